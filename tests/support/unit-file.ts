/** systemd/lineside.service as systemd reads it: lines that go on, keys that are given several times, and the words of a command (systemd.syntax(7), systemd.service(5)). */
import { readFileSync } from 'node:fs';

export const UNIT_FILE = 'systemd/lineside.service';

export interface UnitFile {
  /** The values of a key of a section, in their order. */
  all(key: string): readonly string[];
  /** The last one; '' where there is none. */
  one(key: string): string;
}

export function readUnit(file = UNIT_FILE): UnitFile {
  const text = readFileSync(file, 'utf8').replaceAll(/^[#;].*\n/gm, '');
  const rows = text
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const [, key = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
      return key === '' ? [] : [{ key, value }];
    });
  const all = (key: string): readonly string[] => rows.filter((row) => row.key === key).map(({ value }) => value);
  return { all, one: (key) => all(key).at(-1) ?? '' };
}

/** The words of a command line: quoted ones are one, a backslash is one of C, `$$` is a dollar and `%%` a percent sign. */
export function wordsOf(command: string): string[] {
  const words = [...command.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, single, double, plain]) => single ?? double ?? plain ?? '');
  const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\', "'": "'", '"': '"' };
  return words.map((word) =>
    word
      .replaceAll(/\\(.)/g, (_, letter: string) => {
        const meant = escapes[letter];
        if (meant === undefined) throw new Error(`\\${letter} in a command of the unit is not known here`);
        return meant;
      })
      .replaceAll('$$', '$')
      .replaceAll('%%', '%'),
  );
}
