/** What may stand next on a command line, for the completion of a shell: made of the commands themselves, and of the names on the box. */
import type { Command, Option } from 'commander';
import type { CommandContext, CommandRow, Given } from './remote/command.js';

/** A person who types waits no longer for the names on a box. */
const NAMES_MS_MAX = 1500;

/** Of a command that has one: its row, and what it would have to work with. */
export type RowOf = (command: Command, options: Given) => { readonly row: CommandRow; readonly context: CommandContext } | undefined;

interface Typed {
  readonly command: Command;
  /** Places of arguments that are filled already. */
  readonly argCount: number;
  readonly options: Readonly<Record<string, string>>;
  /** The option whose value comes next. */
  readonly open?: Option;
}

/** `words`: all that stand behind `lineside`; the last one is being typed and may be empty. */
export async function candidatesOf(program: Command, words: readonly string[], rowOf: RowOf): Promise<readonly string[]> {
  const begun = words.at(-1) ?? '';
  const typed = typedIn(program, words.slice(0, -1));
  const all = typed.open
    ? await valuesOf(typed, typed.open, rowOf)
    : begun.startsWith('-')
      ? flagsOf(typed.command)
      : [...subcommands(typed.command), ...(await argumentsOf(typed, rowOf))];
  return [...new Set(all)].filter((word) => word.startsWith(begun) && isOffered(word)).sort();
}

/**
 * Whether a shell takes the word for itself, unquoted, wherever it stands. Others on the box name batches and orders, and a completion
 * that puts `$(…)` on a command line runs it for whoever presses Enter: such a name is left to be typed and quoted by a person.
 */
export function isOffered(word: string): boolean {
  return /^[\w@%+:,./=-]+$/.test(word);
}

function typedIn(program: Command, words: readonly string[]): Typed {
  let command = program;
  let argCount = 0;
  let open: Option | undefined;
  const options: Record<string, string> = {};
  for (const word of words) {
    if (open) {
      options[open.attributeName()] = word;
      open = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const known = command.options.find(({ short, long }) => word === short || word === long);
      if (known && (known.required || known.optional)) open = known;
      continue;
    }
    const inner: Command | undefined = argCount === 0 ? command.commands.find((each) => each.name() === word) : undefined;
    if (inner) command = inner;
    else argCount += 1;
  }
  return { command, argCount, options, ...(open ? { open } : {}) };
}

function flagsOf(command: Command): readonly string[] {
  return [...command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long])), '--help'];
}

function subcommands(command: Command): readonly string[] {
  return command.commands.map((each) => each.name()).filter((name) => !name.startsWith('__'));
}

async function argumentsOf({ command, argCount, options }: Typed, rowOf: RowOf): Promise<readonly string[]> {
  const args = command.registeredArguments;
  const last = args.at(-1);
  const arg = args[argCount] ?? (last?.variadic === true ? last : undefined);
  return arg ? wordsOf(rowOf(command, options), arg.name()) : [];
}

async function valuesOf({ command, options }: Typed, open: Option, rowOf: RowOf): Promise<readonly string[]> {
  return open.argChoices ?? (await wordsOf(rowOf(command, options), open.attributeName()));
}

/** Of an argument or an option, by its name. */
async function wordsOf(found: ReturnType<RowOf>, name: string): Promise<readonly string[]> {
  const names = found?.row.names?.[name];
  return [...(found?.row.words?.[name] ?? []), ...(found && names ? await namesInTime(() => names(found.context)) : [])];
}

/** None where the box does not say them: a shell that completes has no place for errors. */
async function namesInTime(ask: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), NAMES_MS_MAX);
  });
  try {
    return await Promise.race([ask(), late]);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}
