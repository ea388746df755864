/** The names under which schemas stand in openapi.json: a type of a generated client is called what it is called here. */
import type { GenericSchema } from 'valibot';

const names = new WeakMap<object, string>();

/** `nameSchemas({ UnitBody, UnitItem })` beside their definitions. A name is a promise to whoever generates a client. */
export function nameSchemas(schemas: Readonly<Record<string, GenericSchema>>): void {
  for (const [name, schema] of Object.entries(schemas)) names.set(schema, name);
}

export function schemaName(schema: object): string | undefined {
  return names.get(schema);
}
