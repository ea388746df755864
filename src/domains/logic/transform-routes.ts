/** Transforms between text and networks, and validation (contract 3, Logic transforms, Structured-text language; decisions 4.7, Q-ST-03). */
import * as v from 'valibot';
import type { ChartDiagnostic } from '../../../runtime/language/check-chart.js';
import { checkAction, checkCondition } from '../../../runtime/language/checker.js';
import { lowerProgram } from '../../../runtime/language/lower.js';
import { parseAction, parseCondition } from '../../../runtime/language/parser.js';
import { printNetwork } from '../../../runtime/language/print-network.js';
import { Refusal } from '../../platform/base/refusal.js';
import { type Route, routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { Block, BlockConnection } from '../control-modules/kind.js';
import { looseScope } from '../procedures/charts.js';
import { blockCatalog, checkNetwork, compileText, compositesOf } from './composites.js';
import { ChartRequest, diagnoseChart } from './validate-chart.js';

const route = routesFor<{ readonly store: Store }>();

/** 200 with warnings, else the refusal that the write itself would give (decisions Q-ST-03). */
function verdict(diagnostics: readonly ChartDiagnostic[], unprocessable: boolean): unknown {
  const first = diagnostics.find((diagnostic) => diagnostic.severity === 'error');
  if (!first) return { valid: true, diagnostics };
  const message = `line ${first.line}: ${first.message}`;
  throw unprocessable
    ? new Refusal('unprocessable', message, { code: 'unprocessable', valid: false, diagnostics })
    : new Refusal('invalid', message, { code: 'st_invalid', valid: false, diagnostics });
}

function diagnoseText(source: string, mode: 'program' | 'expression', store: Store): unknown {
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

/** Need `{ store }`; they read and compute only. */
export const transformRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/v1/control-logic/to-st',
    action: 'controllogic:transform',
    tier: 'engineer',
    summary: 'Print a network as structured text',
    computes: true,
    body: v.strictObject({
      name: v.optional(v.string(), ''),
      description: v.optional(v.string(), ''),
      scanInterval: v.optional(v.string(), ''),
      blocks: v.array(Block),
      dataConnections: v.optional(v.array(BlockConnection), []),
    }),
    handle({ body: { dataConnections, ...body } }, { store }) {
      const composites = compositesOf(store);
      checkNetwork({ blocks: body.blocks, connections: dataConnections, variables: [], variableBindings: [] }, composites, [], (path) =>
        path.replace(/^connections/, 'dataConnections'),
      );
      return { st: printNetwork({ ...body, name: body.name || 'network', connections: dataConnections }, blockCatalog(composites)) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/control-logic/to-network',
    action: 'controllogic:transform',
    tier: 'engineer',
    summary: 'Compile structured text to a network',
    computes: true,
    body: v.strictObject({ st: v.string() }),
    handle({ body }, { store }) {
      const { blocks, connections, name, scanInterval } = compileText(body.st, compositesOf(store), { blocks: [], dataConnections: [] });
      return { blocks, dataConnections: connections, name, scanInterval };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/validate/st',
    action: 'validate:st',
    tier: 'engineer',
    summary: 'Check structured text: a control-module program, a step action, or a condition',
    computes: true,
    body: v.strictObject({ source: v.string(), mode: v.optional(v.picklist(['program', 'expression']), 'program') }),
    handle: ({ body }, { store }) => diagnoseText(body.source, body.mode, store),
  }),
  route({
    method: 'POST',
    path: '/api/v1/validate/sfc-chart',
    action: 'validate:sfc-chart',
    tier: 'engineer',
    summary: 'Check a whole chart of a phase, or a procedural chart',
    computes: true,
    body: ChartRequest,
    handle: ({ body }, { store }) => verdict(diagnoseChart(body, store), false),
  }),
];
