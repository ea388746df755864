/** Where in its file a member of a manifest stands, so that what is wrong with it is found by an editor. */
import { isMap, isScalar, isSeq, type Place } from '../../platform/base/yaml.js';
import type { FiledManifest } from './manifest-files.js';

/** Of a diagnostic of structured text (docs/reference/structured-text.md). */
export interface TextDiagnostic {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly severity?: string;
  readonly chart?: string;
  readonly step?: string;
  readonly transition?: number;
  /** In the chart, of a chart of steps. */
  readonly member?: string;
}

/** The place of the member that `field` names, or of the nearest one around it that there is. */
export function placeOfField(manifest: FiledManifest, field: string): Place {
  const { node } = deepest(rootOf(manifest), field);
  return placeOfNode(manifest, node);
}

/** As `placeOfField`, of a field as a refusal names it: rules of a kind name members of its spec, the shape of a manifest its own. */
export function placeOfRefused(manifest: FiledManifest, field = ''): Place {
  const ofManifest = /^(spec|metadata|kind|apiVersion|status)\b/.test(field) || field === '';
  const own = deepest(rootOf(manifest), field);
  return ofManifest || own.isWhole ? placeOfNode(manifest, own.node) : placeOfField(manifest, `spec.${field}`);
}

/** As `placeOfField`; a line of a text that stands as a block is a line of the file. */
export function placeOfDiagnostic(manifest: FiledManifest, diagnostic: TextDiagnostic): Place {
  const { line, column } = diagnostic;
  if (diagnostic.member !== undefined) return placeInChart(manifest, diagnostic.member, line, column);
  const text = textNode(manifest, diagnostic);
  return text === undefined ? placeOfField(manifest, 'spec') : placeInText(manifest, text, line, column);
}

/** Of a recipe the chart is that of its procedure. What the member lacks stands at the nearest one around it. */
function placeInChart(manifest: FiledManifest, member: string, line: number, column: number): Place {
  const chart = ['spec.procedure.chart', 'spec.chart'].find((path) => deepest(rootOf(manifest), path).isWhole) ?? 'spec';
  const { node, isWhole } = deepest(rootOf(manifest), `${chart}.${member}`);
  return isWhole ? placeInText(manifest, node, line, column) : placeOfNode(manifest, node);
}

/** A line of the text that is the member `field`, from its first column on. */
export function placeOfTextLine(manifest: FiledManifest, field: string, line: number): Place {
  const { node, isWhole } = deepest(rootOf(manifest), field);
  return isWhole ? placeInText(manifest, node, line, 1) : placeOfNode(manifest, node);
}

function placeInText(manifest: FiledManifest, text: unknown, line: number, column: number): Place {
  const begin = placeOfNode(manifest, text);
  if (!isScalar(text) || (text.type !== 'BLOCK_LITERAL' && text.type !== 'BLOCK_FOLDED')) return begin;
  return { line: begin.line + line, column: column + indentOf(manifest, begin.line + line) };
}

/** The first column of a line of a block is where its text begins: under the indentation that all of it has. */
function indentOf({ lines }: FiledManifest, line: number): number {
  return /^ */.exec(lines[line - 1] ?? '')?.[0].length ?? 0;
}

function textNode(manifest: FiledManifest, { chart, step, transition }: Pick<TextDiagnostic, 'chart' | 'step' | 'transition'>): unknown {
  const inCharts = chart === undefined || chart === 'running' ? '' : `charts.${chart}.`;
  const paths =
    step !== undefined
      ? [`spec.${inCharts}steps[${step}].actionST`, `spec.chart.steps[${step}].actionST`, `spec.procedure.chart.steps[${step}].actionST`]
      : transition !== undefined
        ? [
            `spec.${inCharts}transitions[${transition}].conditionST`,
            `spec.chart.transitions[${transition}].conditionST`,
            `spec.procedure.chart.transitions[${transition}].conditionST`,
          ]
        : ['spec.structuredText', 'spec.st', 'spec.source'];
  for (const path of paths) {
    const { node, isWhole } = deepest(rootOf(manifest), path);
    if (isWhole) return node;
  }
  return undefined;
}

function rootOf({ document, index }: FiledManifest): unknown {
  const { contents } = document;
  return index !== undefined && isSeq(contents) ? contents.items[index] : contents;
}

interface Found {
  readonly node: unknown;
  readonly isWhole: boolean;
}

/** Follows a path such as `spec.steps[open].actionST`; names may hold dots, so the longest member that fits is taken. */
function deepest(root: unknown, path: string): Found {
  let node = root;
  let rest = path;
  while (rest !== '') {
    const next = isMap(node) ? memberOf(node, rest) : isSeq(node) ? itemOf(node, rest) : undefined;
    if (!next) return { node, isWhole: false };
    [node, rest] = [next.node, next.rest];
  }
  return { node, isWhole: true };
}

type Step = { readonly node: unknown; readonly rest: string } | undefined;

function memberOf(map: { readonly items: readonly { readonly key: unknown; readonly value: unknown }[] }, path: string): Step {
  const fitting = map.items
    .map((pair) => ({ pair, key: String(isScalar(pair.key) ? pair.key.value : pair.key) }))
    .filter(({ key }) => path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[`))
    .sort((a, b) => b.key.length - a.key.length);
  const [best] = fitting;
  return best && { node: best.pair.value ?? best.pair.key, rest: path.slice(best.key.length).replace(/^\./, '') };
}

function itemOf(list: { readonly items: readonly unknown[] }, path: string): Step {
  const [whole = '', label = ''] = /^\[([^\]]*)\]\.?/.exec(path) ?? /^(\d+)\.?/.exec(path) ?? [];
  if (whole === '') return undefined;
  const named = list.items.find((item) => isMap(item) && item.get('name') === label);
  const node = named ?? (/^\d+$/.test(label) ? list.items[Number(label)] : undefined);
  return node === undefined ? undefined : { node, rest: path.slice(whole.length) };
}

function placeOfNode({ placeAt }: FiledManifest, node: unknown): Place {
  const offset = (node as { readonly range?: readonly number[] } | null | undefined)?.range?.[0];
  return placeAt(offset ?? 0);
}
