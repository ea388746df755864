/**
 * A map whose keys a user chooses. valibot's own record leaves out `__proto__`, `constructor` and `prototype` without a
 * word, so a parameter of such a name would be accepted and lost; here they are keys like any other (decisions 4.1: names).
 */
import * as v from 'valibot';

const LEFT_OUT = ['__proto__', 'constructor', 'prototype'] as const;

type KeySchema = v.GenericSchema<string, string>;

export function freeMap<Value extends v.GenericSchema>(value: Value, key: KeySchema = v.string()): v.RecordSchema<KeySchema, Value, undefined> {
  const record = v.record(key, value);
  return {
    ...record,
    '~run'(dataset, config) {
      const input: unknown = dataset.value;
      const result = record['~run'](dataset, config);
      if (typeof input !== 'object' || input === null) return result;
      const issues: [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]] | v.BaseIssue<unknown>[] = [];
      for (const name of LEFT_OUT) {
        if (!Object.hasOwn(input, name)) continue;
        const entry = (input as Readonly<Record<string, unknown>>)[name];
        const read = v.safeParse(value, entry, config);
        const named = v.safeParse(key, name, config);
        const path = { type: 'object', origin: named.success ? 'value' : 'key', input: input as Record<string, unknown>, key: name, value: entry } as const;
        for (const issue of [...(named.issues ?? []), ...(read.issues ?? [])]) issues.push({ ...issue, path: [path, ...(issue.path ?? [])] } as v.BaseIssue<unknown>);
        if (result.value && read.success) Object.defineProperty(result.value, name, { value: read.output, enumerable: true, writable: true, configurable: true });
      }
      if (issues.length === 0) return result;
      return { typed: false, value: result.value, issues: [...(result.issues ?? []), ...issues] } as typeof result;
    },
  } as v.RecordSchema<KeySchema, Value, undefined>;
}
