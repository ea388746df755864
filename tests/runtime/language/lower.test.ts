/** Control-module text to networks and back: contract 3 "Structured-text language" and "Logic transforms", decisions 4.6, 4.7. */
import t from 'tap';
import { portLookup, validateNetwork } from '../../../runtime/catalog.js';
import { lowerProgram } from '../../../runtime/language/lower.js';
import { printNetwork } from '../../../runtime/language/print-network.js';
import type { BlockSpec, Connection } from '../../../runtime/vocabulary/network.js';
import fc from '../../support/fuzz.js';
import { aNetwork, aNetworkWith, canonical, catalog, COMPOSITES, DOCUMENTS, TYPE_NAMES } from './network-arbitrary.js';

/** The network in a form that reads well in a test; it must also be one that the runtime can load. */
function network(text: string) {
  const { blocks, connections, variables, variableBindings, diagnostics } = lowerProgram(text, catalog);
  t.same(
    diagnostics.filter(({ severity }) => severity === 'error'),
    [],
    text,
  );
  t.same(validateNetwork(blocks, connections, variables, variableBindings, COMPOSITES), [], text);
  return {
    blocks: blocks.map(({ name }) => name).join(' '),
    params: blocks.flatMap(({ name, params = {} }) => Object.entries(params).map(([key, value]) => `${name}.${key}=${value}`)).join(' '),
    wires: connections.map((row) => `${row.sourceBlock}.${row.sourcePort}>${row.destBlock}.${row.destPort}`).join(' '),
    bindings: variableBindings.map((row) => `${row.variable}:${row.blockRef}.${row.portRef}`).join(' '),
  };
}

function program(declarations: string, body: string): string {
  return `PROGRAM p\n${declarations}\n${body}\nEND_PROGRAM\n`;
}

function refusals(declarations: string, body: string): string[] {
  const { blocks, connections, diagnostics } = lowerProgram(program(declarations, body), catalog);
  t.same([blocks, connections], [[], []], 'the network is empty');
  return diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
}

const IN = 'VAR_INPUT a, b, c : REAL; k : INT; g, h : BOOL; END_VAR VAR_OUTPUT y : REAL; q : BOOL; END_VAR VAR x, z : REAL; END_VAR';
const OUT = 'q := g;';

t.test('CMT ST-12: the control valve of the demonstration plant has the block names its tags are bound to', async (t) => {
  const text = DOCUMENTS.find(({ metadata }) => metadata.name === 'control-valve')?.spec.structuredText ?? '';
  t.same(network(text), {
    blocks: 'limit_1 ao_1',
    params: 'limit_1.MN=0 limit_1.MX=100 ao_1.addr= ao_1.outMin=0 ao_1.outMax=100 ao_1.rawMin=4 ao_1.rawMax=20',
    wires: 'limit_1.OUT>ao_1.IN',
    bindings: 'demand:limit_1.IN',
  });
  const lowered = lowerProgram(text, catalog);
  t.match(lowered, { name: 'control_valve', scanInterval: '100ms', inputs: [{ name: 'demand', dataType: 'REAL' }] });
});

t.test('ST-14 ST-15 ST-16: AI, AO, DI, DO become blocks of their names', async (t) => {
  const { blocks, wires, params } = network(program('', "AO('io:o', AI('io:i', 4, 20, 0, 100), 0, 100, 4.0, 20.0); DO('', NOT DI('io:d'));"));
  t.equal(blocks, 'ai_1 ao_1 di_1 not_1 do_1');
  t.equal(wires, 'ai_1.OUT>ao_1.IN di_1.OUT>not_1.IN not_1.OUT>do_1.IN');
  t.ok(params.includes('ai_1.addr=io:i ai_1.rawMin=4 ai_1.rawMax=20 ai_1.engMin=0 ai_1.engMax=100'));
});

t.test('operators nest left first, operands before the operator, counted per type', async (t) => {
  const { blocks, wires, params, bindings } = network(program(IN, `y := a + b + 2.0 * -c; ${OUT} q := a > 1.5 AND NOT (b <> c) OR g XOR h;`));
  t.equal(blocks, 'add_1 neg_1 mul_1 add_2 gt_1 ne_1 not_1 and_1 xor_1 or_1');
  t.equal(
    wires,
    'add_1.OUT>add_2.IN1 neg_1.OUT>mul_1.IN2 mul_1.OUT>add_2.IN2 gt_1.OUT>and_1.IN1 ne_1.OUT>not_1.IN not_1.OUT>and_1.IN2 and_1.OUT>or_1.IN1 xor_1.OUT>or_1.IN2'
      .split(' ')
      .toSorted((one, two) => wires.indexOf(one) - wires.indexOf(two))
      .join(' '),
  );
  t.equal(params, 'mul_1.IN1=2 gt_1.IN2=1.5');
  t.ok(bindings.startsWith('a:add_1.IN1 b:add_1.IN2 c:neg_1.IN'));
  t.ok(bindings.endsWith('y:add_2.OUT q:or_1.OUT'));
});

t.test('functions take their arguments in catalogue order', async (t) => {
  const { blocks, bindings, params } = network(program(IN, `y := LIMIT(0.0, SEL(g, a, b), MAX(a, b, c, 9.5)); q := AND(g, h, TRUE); x := SQRT(a); z := MUX(k, a, b);`));
  t.equal(blocks, 'sel_1 max_1 limit_1 and_1 sqrt_1 mux_1');
  t.equal(
    bindings,
    'g:sel_1.G a:sel_1.IN0 b:sel_1.IN1 a:max_1.IN1 b:max_1.IN2 c:max_1.IN3 g:and_1.IN1 h:and_1.IN2 a:sqrt_1.IN k:mux_1.K a:mux_1.IN0 b:mux_1.IN1 y:limit_1.OUT q:and_1.OUT',
  );
  t.equal(params, 'max_1.IN4=9.5 limit_1.MN=0 and_1.IN3=true');
});

t.test('an assignment names a port; a later one replaces it, a literal inserts CONST, an input behind an output MOVE', async (t) => {
  t.same(network(program(IN, `x := a + b; x := x * x; y := x; ${OUT}`)), {
    blocks: 'add_1 mul_1 move_1',
    params: '',
    wires: 'add_1.OUT>mul_1.IN1 add_1.OUT>mul_1.IN2',
    bindings: 'a:add_1.IN1 b:add_1.IN2 g:move_1.IN y:mul_1.OUT q:move_1.OUT',
  });
  t.match(network(program(IN, `x := 2.5; y := x + a; ${OUT}`)), { blocks: 'const_1 add_1 move_1', params: 'const_1.value=2.5', wires: 'const_1.OUT>add_1.IN1' });
  t.match(
    network(program('VAR f : REAL := 3; END_VAR VAR_INPUT a : REAL; END_VAR VAR_OUTPUT y : REAL; END_VAR', 'y := a * f;')),
    { blocks: 'mul_1', params: 'mul_1.IN2=3' },
    'a variable that is never assigned is a constant',
  );
});

t.test('a read before the first assignment takes the value of the previous scan', async (t) => {
  t.match(network(program('VAR n : INT; END_VAR VAR_OUTPUT m : INT; END_VAR', 'n := n + 1; m := n;')), { blocks: 'add_1', wires: 'add_1.OUT>add_1.IN1', bindings: 'm:add_1.OUT' });
  t.match(network(program(IN, `y := x + a; x := b * c; ${OUT}`)), { blocks: 'add_1 mul_1 move_1', wires: 'mul_1.OUT>add_1.IN1' });
  t.same(refusals('VAR p1, p2 : REAL; END_VAR', "p1 := p2; p2 := p1; AO('', p1, 0, 1, 0, 1);"), ['dataflow']);
});

t.test('IF becomes one SEL per assigned variable; a missing branch keeps the definition before', async (t) => {
  t.same(network(program(IN, `IF g THEN y := a; ELSE y := b; END_IF ${OUT}`)), {
    blocks: 'sel_1 move_1',
    params: '',
    wires: '',
    bindings: 'g:sel_1.G b:sel_1.IN0 a:sel_1.IN1 g:move_1.IN y:sel_1.OUT q:move_1.OUT',
  });
  t.match(network(program(IN, `y := c; IF g THEN y := 1.5; END_IF ${OUT}`)), { bindings: 'g:sel_1.G c:sel_1.IN0 g:move_1.IN y:sel_1.OUT q:move_1.OUT', params: 'sel_1.IN1=1.5' });
  t.match(network(program(IN, `IF g THEN y := a; END_IF ${OUT}`)), { wires: 'sel_1.OUT>sel_1.IN0' }, 'else the value of the previous scan');
  const nested = network(program(IN, `IF a > b THEN y := a; ELSIF h THEN y := b + c; x := c; ELSE y := c; END_IF z := x; ${OUT}`));
  t.equal(nested.blocks, 'gt_1 add_1 sel_1 sel_2 sel_3 sel_4 move_1');
  t.ok(nested.wires.includes('add_1.OUT>sel_1.IN1'));
  t.ok(nested.wires.includes('sel_1.OUT>sel_3.IN0'));
  t.ok(nested.bindings.includes('h:sel_1.G'));
  const inner = network(program(IN, `IF g THEN x := a; IF h THEN x := x + b; END_IF ELSE x := c; END_IF y := x; ${OUT}`));
  t.equal(inner.blocks, 'add_1 sel_1 sel_2 move_1');
  t.equal(inner.wires, 'add_1.OUT>sel_1.IN1 sel_1.OUT>sel_2.IN1');
});

t.test('CASE becomes a chain of SEL, the first label outermost', async (t) => {
  const { blocks, wires, params } = network(program(IN, `CASE k OF 1: y := a; 2, 4..6: y := b; ELSE y := c; END_CASE ${OUT}`));
  t.equal(blocks, 'eq_1 eq_2 ge_1 le_1 and_1 or_1 sel_1 sel_2 move_1');
  t.equal(params, 'eq_1.IN2=1 eq_2.IN2=2 ge_1.IN2=4 le_1.IN2=6');
  t.equal(
    wires,
    'eq_2.OUT>or_1.IN1 ge_1.OUT>and_1.IN1 le_1.OUT>and_1.IN2 and_1.OUT>or_1.IN2 or_1.OUT>sel_1.G eq_1.OUT>sel_2.G sel_1.OUT>sel_2.IN0'
      .split(' ')
      .toSorted((one, two) => wires.indexOf(one) - wires.indexOf(two))
      .join(' '),
  );
});

t.test('ST-17: instances keep their name; presets are literals from the declaration or the call', async (t) => {
  const { blocks, params, wires, bindings } = network(
    program(
      'VAR_INPUT g : BOOL; END_VAR VAR t : TON := (PT := T#5s); u : TOF; spare : R_TRIG; END_VAR VAR_OUTPUT q : BOOL; END_VAR',
      'u(IN := t.Q AND g, pt := T#100ms); t(in := NOT u.q); q := u.Q;',
    ),
  );
  t.equal(blocks, 'and_1 u not_1 t spare');
  t.equal(params, 'u.PT=T#100ms t.PT=T#5s');
  t.equal(wires, 't.Q>and_1.IN1 and_1.OUT>u.IN u.Q>not_1.IN not_1.OUT>t.IN');
  t.equal(bindings, 'g:and_1.IN2 q:u.Q');
  t.same(refusals('VAR t : TON; p : TIME := T#1s; x : TIME; END_VAR', 'x := t.ET; t(IN := TRUE, PT := x);'), ['dataflow']);
  t.same(refusals('VAR c : CTU; k : INT; END_VAR', 'k := c.CV; c(PV := k);'), ['dataflow']);
  t.same(refusals('VAR t : TON; p : TIME := T#1s; END_VAR', 't(IN := TRUE, PT := p);'), ['dataflow'], 'an initialised variable is no literal');
  t.same(refusals('VAR c : CTU; k : INT := 5; END_VAR', 'c(PV := k);'), ['dataflow']);
  t.same(refusals('VAR p : PID; gain : REAL := 2.0; END_VAR', 'p(kp := gain);'), ['dataflow'], 'nor for a parameter');
  t.match(network(program('VAR c : CTU; m : ADD; END_VAR', 'c(PV := -5); m(IN1 := -2.5);')), { params: 'c.PV=-5 m.IN1=-2.5' });
});

t.test('LOGIC: an instance may have the name of a builtin, a variable may not', async (t) => {
  t.match(network(program("VAR ai : AI := (addr := 'io:x'); END_VAR VAR_OUTPUT y : REAL; END_VAR", "ai(); y := ai.OUT + AI('io:y', 0, 1, 0, 1);")), { blocks: 'ai ai_1 add_1' });
  t.same(refusals('VAR ao : REAL; END_VAR', 'ao := 1.0;'), ['duplicate-name']);
  t.match(
    network(program('VAR add_1 : ADD; END_VAR VAR_OUTPUT y : REAL; END_VAR VAR_INPUT a : REAL; END_VAR', 'add_1(IN1 := a); y := add_1.OUT + a;')),
    { blocks: 'add_1 add_2' },
    'generated names step around declared ones',
  );
});

t.test('a whole-numbered REAL divides as REAL', async (t) => {
  t.match(network(program('VAR_INPUT k : INT; END_VAR VAR_OUTPUT y : REAL; END_VAR', 'y := k / 2.0;')), { params: 'div_1.IN2=2.0' });
  t.match(network(program('VAR_INPUT k : INT; END_VAR VAR_OUTPUT y : REAL; END_VAR VAR x : REAL; END_VAR', 'x := k; y := x / 2;')), { blocks: 'to_real_1 div_1' });
  t.match(network(program('VAR_INPUT k : INT; END_VAR VAR_OUTPUT y : INT; END_VAR', 'y := k / 2;')), { blocks: 'div_1', params: 'div_1.IN2=2' });
});

t.test('ST-01: a whole-numbered REAL literal stays REAL wherever the type of a block hangs on it', async (t) => {
  /** Type of the port behind the output `y` of a program. */
  const typeOfY = (declarations: string, body: string): string | undefined => {
    const lowered = lowerProgram(program(`VAR_OUTPUT y : REAL; END_VAR ${declarations}`, body), catalog);
    t.same(lowered.diagnostics, [], body);
    const end = lowered.variableBindings.find(({ variable }) => variable === 'y');
    return end && portLookup(lowered, COMPOSITES)(end.blockRef, end.portRef)?.type;
  };
  const K = 'VAR_INPUT k : INT; g : BOOL; END_VAR';
  for (const [declarations, body] of [
    ['', 'y := 90.0;'],
    ['', 'y := 90;'],
    ['', 'y := 10.0 * 9 - 8;'],
    ['', 'y := -(2.0);'],
    ['VAR o : MOVE; END_VAR', 'o(IN := 10.0 * 9 - 8); y := o.OUT;'],
    ['VAR o : MOVE := (IN := 5.0); END_VAR', 'o(); y := o.OUT;'],
    ['VAR o : MUL := (IN1 := 5.0); END_VAR', 'o(IN2 := 2); y := o.OUT;'],
    [K, 'y := k * 2.0;'],
    [K, 'y := MAX(k, 4.0);'],
    [K, 'y := k;'],
    [K, 'y := k + 1;'],
    [K, 'IF g THEN y := 1.0; ELSE y := 2.0; END_IF'],
    [K, 'y := SEL(g, 1, 2.0);'],
    [K, 'CASE k OF 1: y := 5.0; 2: y := 6.0; END_CASE'],
    ['VAR n : REAL := 4; END_VAR', 'y := n + 1;'],
  ] as const)
    t.equal(typeOfY(declarations, body), 'REAL', body);
  t.match(network(program(K, "DO('', k > 1.0);")), { params: 'gt_1.IN2=1 do_1.addr=' }, 'a comparison is BOOL either way');
  const text = printNetwork(lowerProgram(program('VAR o : ADD := (IN1 := 5.0); c : CONST := (value := 7.0); END_VAR', 'o(IN2 := c.OUT);'), catalog), catalog);
  t.match(text, /o : ADD := \(IN1 := 5\.0\)/);
  t.match(text, /c : CONST := \(value := 7\.0\)/);
});

t.test('LOGIC-03 ST-18: what is outside the dataflow subset is refused with its place and an empty network', async (t) => {
  const rows: [string, string, string][] = [
    ['dataflow', '', 'WHILE TRUE DO END_WHILE'],
    ['dataflow', 'VAR i : INT; END_VAR', 'FOR i := 1 TO 2 DO END_FOR'],
    ['dataflow', '', 'REPEAT UNTIL TRUE END_REPEAT'],
    ['dataflow', '', 'EXIT;'],
    ['dataflow', '', 'RETURN;'],
    ['unknown-function', 'VAR x : REAL; END_VAR', "x := READ('a.b');"],
    ['unknown-function', '', "WRITE('a.b', 1);"],
    ['unknown-function', '', 'FOO(1);'],
    ['dataflow', 'VAR x : REAL; END_VAR', 'x := LIMIT(MN := 0.0, IN := 1.0, MX := 2.0);'],
    ['dataflow', 'VAR_INPUT s : STRING; END_VAR VAR x : BOOL; END_VAR', 'x := DI(s);'],
    ['unassigned', 'VAR x, y : REAL; END_VAR', 'x := y + y;'],
    ['unassigned', 'VAR_OUTPUT y : REAL; END_VAR', ''],
    ['dataflow', 'VAR_INPUT g : BOOL; END_VAR VAR t : TON; END_VAR', 'IF g THEN t(IN := g); END_IF'],
    ['dataflow', 'VAR_INPUT g : BOOL; END_VAR', "IF g THEN DO('', TRUE); END_IF"],
    ['dataflow', 'VAR_INPUT g : BOOL; END_VAR VAR x : REAL; END_VAR', 'IF g THEN x := SQRT(2.0); END_IF'],
    ['dataflow', 'VAR t : TON; END_VAR', 't(); t();'],
    ['dataflow', 'VAR x : TIME; END_VAR', 'x := T#1s + T#2s;'],
    ['dataflow', 'VAR x : BOOL; END_VAR', 'x := TON(TRUE, T#1s);'],
    ['dataflow', 'VAR x : BOOL; END_VAR', 'x := HYST(1.0);'],
    ['unknown-type', 'VAR x : DINT; END_VAR', ''],
    ['unknown-name', '', 'x := 1;'],
    ['unknown-name', 'VAR t : TON; x : BOOL; END_VAR', 'x := t.R;'],
    ['unknown-name', 'VAR t : TON; END_VAR', 't(R := TRUE);'],
    ['duplicate-name', 'VAR x : REAL; X : BOOL; END_VAR', ''],
    ['type', 'VAR x : BOOL; END_VAR', 'x := 1;'],
    ['type', 'VAR_INPUT a : REAL; END_VAR', 'a := 1.0;'],
    ['type', 'VAR_INPUT a : REAL; END_VAR VAR x : REAL; END_VAR', 'IF a THEN x := a; END_IF'],
    ['type', 'VAR t : TON := (PT := 5); END_VAR', ''],
    ['argument-count', 'VAR x : REAL; END_VAR', 'x := LIMIT(1.0);'],
    ['argument-count', '', "AO('', 1.0);"],
  ];
  for (const [code, declarations, body] of rows) t.same(refusals(declarations, body), [code], `${declarations} ${body}`);
  const { diagnostics } = lowerProgram('PROGRAM p\n  EXIT;\n  RETURN;\nEND_PROGRAM', catalog);
  t.match(diagnostics, [
    { line: 2, column: 3 },
    { line: 3, column: 3 },
  ]);
});

t.test('PROG: a program that would grow beyond measure is refused', async (t) => {
  const body = `${'x := x + a;\n'.repeat(6000)}`;
  t.same(refusals('VAR_INPUT a : REAL; END_VAR VAR x : REAL; END_VAR', body), ['dataflow']);
});

// ---------------------------------------------------------------- to-st

t.test('LOGIC-01: the printed layout is fixed', async (t) => {
  const blocks: BlockSpec[] = [
    { name: 'ai', type: 'AI', params: { rawMax: 20, rawMin: 4, addr: 'io-1:tt' } },
    { name: 'pid', type: 'PID', params: { ti: 'T#20s', kp: 2 }, comment: 'main loop' },
  ];
  const connections: Connection[] = [{ sourceBlock: 'ai', sourcePort: 'OUT', destBlock: 'pid', destPort: 'PV' }];
  t.equal(
    printNetwork({ name: 'temp-loop', description: 'text', scanInterval: '100ms', blocks, connections }, catalog),
    `(* name: temp-loop *)
(* description: text *)
(* scanInterval: 100ms *)
PROGRAM temp_loop
VAR
  ai : AI := (addr := 'io-1:tt', rawMin := 4.0, rawMax := 20.0);
  pid : PID := (kp := 2.0, ti := T#20s);
END_VAR
  ai();
  pid(PV := ai.OUT); // main loop
END_PROGRAM
`,
  );
  t.match(
    printNetwork({ name: '7-up', description: 'a *) b\nc', blocks: [], connections: [] }, catalog),
    /description: a \* \) b c \*\)\n\(\* scanInterval: 100ms \*\)\nPROGRAM p_7_up\n/,
  );
});

t.test('LOGIC-02: every template of the demonstration plant survives to-st and to-network', async (t) => {
  for (const { metadata, spec } of DOCUMENTS.filter(({ kind, spec }) => kind === 'ControlModuleTemplate' && !spec.structuredText)) {
    const text = printNetwork({ name: metadata.name, scanInterval: spec.scanInterval, blocks: spec.blocks, connections: spec.dataConnections }, catalog);
    const back = lowerProgram(text, catalog);
    t.same(back.diagnostics, [], metadata.name);
    t.equal(back.name, metadata.name);
    t.equal(back.scanInterval, spec.scanInterval);
    t.same(canonical(back.blocks, back.connections), canonical(spec.blocks, spec.dataConnections), metadata.name);
  }
});

/** What of a network a detour over its text has changed; empty when nothing. */
function changed(name: string, blocks: readonly BlockSpec[], connections: readonly Connection[]): string {
  const plain = (value: unknown): string => JSON.stringify(value);
  const text = printNetwork({ name, description: 'd', scanInterval: '250ms', blocks, connections }, catalog);
  const back = lowerProgram(text, catalog);
  if (back.diagnostics.length > 0) return `${plain(back.diagnostics)}\n${text}`;
  if (back.name !== name || back.scanInterval !== '250ms') return `${back.name} ${back.scanInterval}`;
  const [before, after] = [plain(canonical(blocks, connections)), plain(canonical(back.blocks, back.connections))];
  if (before !== after) return `${before}\n${after}\n${text}`;
  const again = printNetwork({ name, description: 'd', scanInterval: '250ms', blocks: back.blocks, connections: back.connections }, catalog);
  return again === text ? '' : `printed again it differs:\n${text}\n${again}`;
}

t.test('LOGIC-02: to-network of to-st gives every network of catalog blocks back', async (t) => {
  fc.assert(
    fc.property(aNetwork, fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,60}$/), ({ blocks, connections }, name) => {
      const difference = changed(name, blocks, connections);
      if (difference !== '') throw new Error(difference);
    }),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('LOGIC-02: and so for networks around every single type, built-in or composite, with every port fed somewhere', async (t) => {
  for (const type of TYPE_NAMES) {
    const fed = new Set<string>();
    const wired = (connections: readonly Connection[]): void => {
      for (const { destBlock, destPort } of connections) if (destBlock === 'subject') fed.add(destPort);
    };
    fc.assert(
      fc.property(aNetworkWith(type), ({ blocks, connections }) => {
        wired(connections);
        const difference = changed('n', blocks, connections);
        if (difference !== '') throw new Error(difference);
      }),
      { numRuns: 25 },
    );
    const inputs = (catalog(type)?.inputs ?? []).filter(({ constant }) => !constant);
    t.strictSame(
      inputs.map(({ name }) => name).filter((name) => !fed.has(name)),
      [],
      type,
    );
  }
});

t.test('LOGIC-01: inputs and outputs are printed beside blocks of the same names, and read again', async (t) => {
  const blocks: BlockSpec[] = [
    { name: 'level', type: 'LAG', params: { tau: 'T#2s' } },
    { name: 'y', type: 'SCALE' },
  ];
  const inputs = [
    { name: 'level', dataType: 'Float', defaultValue: '5' },
    { name: 'word', dataType: 'STRING', defaultValue: "it's" },
    { name: 'late', dataType: 'Time', defaultValue: 'T#5s' },
  ];
  const connections: Connection[] = [{ sourceBlock: 'level', sourcePort: 'OUT', destBlock: 'y', destPort: 'IN' }];
  const variableBindings = [
    { variable: 'level', blockRef: 'level', portRef: 'IN' },
    { variable: 'level', blockRef: 'y', portRef: 'IN' },
  ];
  const outputs = [{ name: 'Y', dataType: 'REAL', blockRef: 'y', portRef: 'OUT' }];
  const text = printNetwork({ name: 'n', blocks, connections, inputs, variableBindings, outputs }, catalog);
  const back = lowerProgram(text, catalog);
  t.same(back.diagnostics, [], text);
  t.same(canonical(back.blocks, back.connections), canonical(blocks, connections));
  t.same(back.variableBindings, [variableBindings[0], { variable: 'Y', blockRef: 'y', portRef: 'OUT' }], 'a connection goes before a binding');
  t.same(back.outputs, outputs);
  t.same(back.inputs, [
    { name: 'level', dataType: 'REAL', defaultValue: '5' },
    { name: 'word', dataType: 'STRING', defaultValue: "it's" },
    { name: 'late', dataType: 'TIME', defaultValue: 'T#5s' },
  ]);
});

t.test('LOGIC-02: what lowering makes of a program can be printed and read again', async (t) => {
  const first = lowerProgram(
    program('VAR t : TON := (PT := T#5s); x : REAL; END_VAR', "t(IN := DI('io:d')); // wait\nIF t.Q THEN x := 1.5; ELSE x := x + 1.0; END_IF AO('io:o', x, 0, 1, 0, 1);"),
    catalog,
  );
  t.same(first.diagnostics, []);
  t.equal(first.blocks.find(({ name }) => name === 't')?.comment, 'wait');
  const second = lowerProgram(printNetwork(first, catalog), catalog);
  t.same(canonical(second.blocks, second.connections), canonical(first.blocks, first.connections));
});
