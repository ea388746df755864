/** Bodies of several forms: the form is chosen by what the body holds, so that a refusal names the member of that form; a union would speak of all of them. */
import * as v from 'valibot';

const forms = new WeakMap<object, readonly v.GenericSchema[]>();

/** @param choose gives one of the forms. */
export function oneOf<const Form extends v.GenericSchema>(all: readonly Form[], choose: (input: unknown) => Form): v.LazySchema<Form> {
  const schema = v.lazy(choose);
  forms.set(schema, all);
  return schema;
}

/** The forms of such a body, for openapi.json. */
export function alternativesOf(schema: object): readonly v.GenericSchema[] | undefined {
  return forms.get(schema);
}
