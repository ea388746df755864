/** Transforms between text and networks, and validation (contract 3, Logic transforms, Structured-text language; decisions 4.7, Q-ST-03). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ChartDiagnostic } from '../../../runtime/language/check-chart.js';
import { checkAction, checkCondition } from '../../../runtime/language/checker.js';
import { lowerProgram, type NetworkOutput } from '../../../runtime/language/lower.js';
import { parseAction, parseCondition } from '../../../runtime/language/parser.js';
import { isPrintableName, printNetwork } from '../../../runtime/language/print-network.js';
import { portLookup } from '../../../runtime/catalog.js';
import type { CompositeType, NetworkVariable } from '../../../runtime/vocabulary/network.js';
import { invalid, Refusal } from '../../platform/base/refusal.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { routesFor } from '../../platform/http/route.js';
import { ScalarMap } from '../../platform/store/fields.js';
import { byOwnNames } from '../../platform/store/other-names.js';
import type { Store } from '../../platform/store/store.js';
import { TemplateInput, TemplateTag } from '../control-modules/kind.js';
import { tagOfOutput } from '../control-modules/merge.js';
import { looseScope } from './charts.js';
import { blockCatalog, type CheckedNetwork, checkNetwork, compileText, compositesOf } from '../logic/composites.js';
import { ChartRequest, diagnoseChart } from './validate-chart.js';
import { Block, BlockConnection, BlockVariableBinding, TEXT_NAMES, WIRING_NAMES } from '../logic/kind.js';

const route = routesFor<{ readonly store: Store }>();

const Diagnostic = v.strictObject({
  line: v.number(),
  column: v.number(),
  severity: v.picklist(['error', 'warning']),
  code: v.string(),
  message: v.string(),
  /** Where in a chart; absent for text alone. */
  chart: v.optional(v.string()),
  step: v.optional(v.string()),
  /** Index in the transitions of the chart. */
  transition: v.optional(v.number()),
  /** Of a chart of steps: the member of the outermost chart that it is about, for example `steps[boil].parameterBindings[0].from`. */
  member: v.optional(v.string()),
});
const Verdict = v.strictObject({ valid: v.literal(true), diagnostics: v.array(Diagnostic) });
type Verdict = ToldBy<typeof Verdict>;

const NetworkBody = v.strictObject({
  blocks: v.array(v.strictObject({ ...Block.entries, comment: v.optional(v.string()), params: v.optional(ScalarMap) })),
  dataConnections: v.array(BlockConnection),
  inputs: v.array(v.strictObject({ name: v.string(), dataType: v.string(), defaultValue: v.optional(v.string()) })),
  variableBindings: v.array(BlockVariableBinding),
  tags: v.array(TemplateTag),
  name: v.string(),
  scanInterval: v.string(),
});

/** One of the names of the text must be there. */
const TEXT = { structuredText: v.optional(v.string()), st: v.optional(v.string()), source: v.optional(v.string()) };

function textOf(body: { readonly structuredText?: string | undefined }): string {
  const { structuredText } = byOwnNames(body, TEXT_NAMES);
  if (structuredText === undefined) throw invalid('missing_field', 'structuredText', 'field structuredText is required');
  return structuredText;
}

nameSchemas({ TransformDiagnostic: Diagnostic, TransformVerdict: Verdict, TransformNetwork: NetworkBody });

/** 200 with warnings, else the refusal that the write itself would give (decisions Q-ST-03). */
function verdict(diagnostics: readonly ChartDiagnostic[], unprocessable: boolean): Verdict {
  const first = diagnostics.find((diagnostic) => diagnostic.severity === 'error');
  if (!first) return { valid: true, diagnostics };
  const message = `line ${first.line}: ${first.message}`;
  throw unprocessable
    ? new Refusal('unprocessable', message, { code: 'unprocessable', valid: false, diagnostics })
    : new Refusal('invalid', message, { code: 'st_invalid', valid: false, diagnostics });
}

function diagnoseText(source: string, mode: 'program' | 'expression', store: Store): Verdict {
  const scope = looseScope();
  if (mode === 'expression') {
    const { expression, diagnostics } = parseCondition(source);
    return verdict([...diagnostics, ...(expression ? checkCondition(expression, scope) : [])], false);
  }
  if (/^(\s|\/\/[^\n]*(\n|$)|\(\*[\s\S]*?\*\))*PROGRAM\b/i.test(source)) {
    return verdict(lowerProgram(source, blockCatalog(compositesOf(store))).diagnostics, true);
  }
  const { statements, diagnostics } = parseAction(source);
  return verdict([...diagnostics, ...(diagnostics.length === 0 ? checkAction(statements, scope) : [])], false);
}

/** A name in the text is a word of its own; an input whose name is none cannot be printed. */
function checkPrintable(inputs: readonly { readonly name: string }[]): void {
  const seen = new Set<string>();
  inputs.forEach(({ name }, index) => {
    const key = name.toLowerCase();
    if (!isPrintableName(name)) throw invalid('invalid_field', `inputs[${index}].name`, `input ${name} has the name of a word of structured text; rename it`);
    if (seen.has(key)) throw invalid('invalid_field', `inputs[${index}].name`, `input ${name} is declared twice`);
    seen.add(key);
  });
}

/** Tags that stand for an output port and can be named in the text. */
function outputsOf(network: CheckedNetwork, tags: readonly TemplateTag[], composites: readonly CompositeType[]): readonly NetworkOutput[] {
  const port = portLookup(network, composites);
  const taken = new Set(network.variables.map(({ name }) => name.toLowerCase()));
  return tags.filter(({ name, blockRef, portRef, accessLevel }) => {
    const key = name.toLowerCase();
    if (blockRef === '' || accessLevel !== 'read' || !isPrintableName(name) || taken.has(key) || port(blockRef, portRef)?.direction !== 'output') return false;
    taken.add(key);
    return true;
  });
}

/** Need `{ store }`; they read and compute only. */
export const transformRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/control-logic/to-st',
    action: 'controllogic:transform',
    tier: 'engineer',
    reply: v.strictObject({ st: v.string(), structuredText: v.string() }),
    errors: { 400: ['invalid_network'] },
    summary: 'Print a network as structured text',
    computes: true,
    body: v.strictObject({
      name: v.optional(v.string(), ''),
      description: v.optional(v.string(), ''),
      scanInterval: v.optional(v.string(), ''),
      blocks: v.array(Block),
      dataConnections: v.optional(v.array(BlockConnection)),
      connections: v.optional(v.array(BlockConnection)),
      // of a template, so that its text is the whole of its logic
      inputs: v.optional(v.array(TemplateInput), []),
      variableBindings: v.optional(v.array(BlockVariableBinding), []),
      tags: v.optional(v.array(TemplateTag), []),
    }),
    handle({ body: given }, { store }) {
      const { dataConnections = [], connections: _, tags, ...body } = byOwnNames(given, WIRING_NAMES);
      const composites = compositesOf(store);
      const variables: NetworkVariable[] = body.inputs.map(({ name, dataType }) => ({ name, dataType, direction: 'input' }));
      const network = { blocks: body.blocks, connections: dataConnections, variables, variableBindings: body.variableBindings };
      checkNetwork(network, composites, tags, (path) => path.replace(/^connections/, 'dataConnections').replace(/^variables/, 'inputs'));
      checkPrintable(body.inputs);
      const text = printNetwork({ ...body, name: body.name || 'network', connections: dataConnections, outputs: outputsOf(network, tags, composites) }, blockCatalog(composites));
      return { st: text, structuredText: text };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/control-logic/to-network',
    action: 'controllogic:transform',
    tier: 'engineer',
    reply: NetworkBody,
    errors: { 422: ['unprocessable'] },
    summary: 'Compile structured text to a network; what it answers is the logic of a template as it is posted',
    computes: true,
    body: v.strictObject(TEXT),
    handle({ body }, { store }): ToldBy<typeof NetworkBody> {
      const { blocks, connections, name, scanInterval, inputs, outputs, variableBindings } = compileText(textOf(body), compositesOf(store), { blocks: [], dataConnections: [] });
      const known = new Set(inputs.map((input) => input.name));
      return {
        blocks,
        dataConnections: connections,
        inputs,
        variableBindings: variableBindings.filter(({ variable }) => known.has(variable)),
        tags: outputs.map(tagOfOutput),
        name,
        scanInterval,
      };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/validate/st',
    action: 'validate:st',
    tier: 'engineer',
    reply: Verdict,
    errors: { 400: ['st_invalid'], 422: ['unprocessable'] },
    summary: 'Check structured text: a control-module program, a step action, or a condition',
    computes: true,
    body: v.strictObject({ ...TEXT, mode: v.optional(v.picklist(['program', 'expression']), 'program') }),
    handle: ({ body }, { store }) => diagnoseText(textOf(body), body.mode, store),
  }),
  route({
    method: 'POST',
    path: '/api/v1/validate/sfc-chart',
    action: 'validate:sfc-chart',
    tier: 'engineer',
    reply: Verdict,
    errors: { 400: ['st_invalid'] },
    summary: 'Check a whole chart of a phase, or a procedural chart',
    computes: true,
    body: ChartRequest,
    handle: ({ body }, { store }) => verdict(diagnoseChart(body, store), false),
  }),
];
