/** Every field that an engineer writes says what it means; fields of a status are not looked at here. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { manifestSchema, schemaOf } from '../../src/domains/apply/schemas.js';
import { APPLIED_KINDS } from '../../src/domains/index.js';

interface Property {
  readonly path: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

type Json = Readonly<Record<string, unknown>>;

/** The members of every object in the schema, with the way to it. */
function propertiesIn(schema: unknown, path = ''): Property[] {
  if (Array.isArray(schema)) return schema.flatMap((each, at) => propertiesIn(each, `${path}/${at}`));
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, $defs = {}, if: _condition, ...rest } = schema as { readonly properties?: Json; readonly $defs?: Json } & Json;
  const own = Object.entries(properties).map(([name, each]) => ({ path: `${path}/${name}`, schema: each as Json }));
  const maps = [...Object.entries(properties), ...Object.entries($defs)].flatMap(([name, inner]) => propertiesIn(inner, `${path}/${name}`));
  return [
    ...own,
    ...maps,
    ...Object.entries(rest).flatMap(([keyword, inner]) => (keyword === 'examples' || keyword === 'default' ? [] : propertiesIn(inner, `${path}/${keyword}`))),
  ];
}

const all = propertiesIn(manifestSchema(APPLIED_KINDS));

t.test('every field of a manifest says what it means, in one sentence at least', async (t) => {
  t.ok(all.length > 500, 'they were found');
  const silent = all.filter(({ schema }) => !/^\S.{8,}[.]$/s.test(String(schema.description ?? ''))).map(({ path }) => path);
  t.same(silent, [], 'describeFields beside the shape, with the words in field-words.ts of its domain');
});

t.test('no field says more than fits a hint of an editor, and none shouts', async (t) => {
  const long = all.filter(({ schema }) => String(schema.description).length > 260 || /[!]|\s{2}/.test(String(schema.description))).map(({ path }) => path);
  t.same(long, []);
});

t.test('what a field gives as an example is taken there', async (t) => {
  let looked = 0;
  for (const kind of APPLIED_KINDS.all) {
    const schema = schemaOf(kind);
    const ajv = new Ajv2020({ strict: false, allErrors: false });
    for (const { path, schema: property } of propertiesIn(schema)) {
      const { examples = [] } = property as { readonly examples?: readonly unknown[] };
      if (examples.length === 0) continue;
      const check = ajv.compile({ ...property, $defs: schema.$defs });
      for (const example of examples) {
        looked += 1;
        if (!check(example)) t.fail(`${kind.kind} ${path}: ${JSON.stringify(example)} is refused: ${JSON.stringify(check.errors)}`);
      }
    }
  }
  t.ok(looked > 300, `${looked} examples`);
});
