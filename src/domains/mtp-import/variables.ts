/**
 * What a variable of a data assembly is (VDI/VDE/NAMUR 2658-3 and -4): packages do not say the type of a node, the standard does by the class of
 * the assembly and the name of the variable.
 */
import type { DEVICE_CLASSES } from '../control-modules/kind.js';
import type { ChannelType } from '../io-modules/kind.js';

/** Values of an assembly by how its class begins: `AnaView`, `DIntManInt`, `BinMon`, `StringServParam`. */
const VALUE_OF_CLASS: readonly (readonly [RegExp, ChannelType])[] = [
  [/^(Mon)?Ana/, 'float'],
  [/^(Mon)?DInt/, 'int'],
  [/^(Mon)?Bin/, 'bool'],
  [/^(Mon)?String/, 'string'],
  [/^(Mon)?PID/, 'float'],
];

/** The same in every class; the first that fits counts. */
const BY_NAME: readonly (readonly [RegExp, ChannelType])[] = [
  [/^(WQC|OSLevel|StateCur|CommandEn|PosTextID|Interact(QuestionID|AnswerID|AddInfo|AnswerID_Rcv))$/, 'int'],
  [/^(Command|Procedure)(Op|Int|Ext|Cur|Req|En)?$/, 'int'],
  [/^(V|SP|MV|PV|Pos|Rpm|Ana)?(Scl)?Unit$/, 'int'],
  [/^VState[01]$/, 'string'],
  [/^(Text|VText)$/, 'string'],
  // who is in charge, and what he asks for
  [/^(State|Src)(Channel|OffAut|OpAut|AutAut|OffOp|OpOp|AutOp|OffAct|OpAct|AutAct|ExtAut|IntOp|IntAut|ExtOp|IntAct|ExtAct|ManAut|ManOp|ManAct)$/, 'bool'],
  // monitoring of limits: enabled, active
  [/^V[AWT][HL](En|Act)$/, 'bool'],
  // valves and drives
  [/^(SafePos|SafePosEn|SafePosAct|Perm(it|En)|Intl(En)?|Interlock|Prot(En|ect)|Reset(Op|Aut)|Mon(En|SafePos|StatErr|DynErr)|Trip)$/, 'bool'],
  [/^(Open|Close|Fwd|Rev|Stop)(Op|Aut|Fbk|FbkCalc|FbkEn|Act|En|Ctrl)?$/, 'bool'],
  [/^(Pos|Rpm)(FbkCalc|FbkEn|ReachedFbk|Err)$/, 'bool'],
  [/^Ctrl$/, 'bool'],
  [/^(FwdCtrl|RevCtrl|OpenAct|CloseAct|ApplyEn|ApplyExt|ApplyOp|ApplyInt|Sync)$/, 'bool'],
  [/^Mon(Stat|Dyn)Ti$/, 'float'],
  [/^(Pos|Rpm)(SclMin|SclMax|Min|Max|Int|Man|Rbk|Fbk)?$/, 'float'],
  [/^(P|Ti|Td)$/, 'float'],
  [/^(PV|SP|MV)(SclMin|SclMax|Min|Max|Int|Man|Rbk)?$/, 'float'],
];

/** Of the class: its value, its scale, its limits. */
const OF_CLASS = /^V(SclMin|SclMax|Min|Max|Int|Ext|Op|Man|Req|Out|Rbk|Fbk|Cur|[AWT][HL]Lim)?$/;

/** Undefined where the standard does not say it. */
export function typeOfVariable(className: string, name: string): ChannelType | undefined {
  const known = BY_NAME.find(([pattern]) => pattern.test(name));
  if (known) return known[1];
  return OF_CLASS.test(name) ? VALUE_OF_CLASS.find(([pattern]) => pattern.test(className))?.[1] : undefined;
}

/** The module takes it back when it has seen it: it never reads as it was written. */
export function isPulse(name: string): boolean {
  return /^(Command|Procedure)(Op|Ext)$/.test(name) || /^(State|Src)\w+(Op|Aut)$/.test(name) || /^(Reset|Open|Close|Fwd|Rev|Stop|Apply)(Op|Aut|Ext|Int)$/.test(name);
}

/** Variables that have the scale, the unit and the words of their assembly, by what these attributes are called. */
export function scaleOf(name: string): string | undefined {
  return /^(?<scale>V|Pos|Rpm|SP|PV|MV)(Man|Int|Ext|Op|Req|Out|Rbk|Fbk|Cur)?$/.exec(name)?.groups?.scale;
}

const DEVICE_CLASS_OF: readonly (readonly [RegExp, (typeof DEVICE_CLASSES)[number]])[] = [
  [/Vlv$/, 'valve'],
  [/Drv$/, 'actuator'],
  [/^(Mon)?PID/, 'controller'],
  [/(View|Mon)$/, 'sensor'],
];

export function deviceClassOf(className: string): (typeof DEVICE_CLASSES)[number] {
  return DEVICE_CLASS_OF.find(([pattern]) => pattern.test(className))?.[1] ?? 'other';
}

/** Engineering units by their number in VUnit (the list of VDI 2658-3, which is that of IEC 61804 and PROFIBUS PA). Those in common use. */
const UNIT_OF = new Map<number, string>([
  [1000, 'K'],
  [1001, '°C'],
  [1002, '°F'],
  [1010, 'm'],
  [1012, 'cm'],
  [1013, 'mm'],
  [1034, 'm³'],
  [1038, 'L'],
  [1040, 'mL'],
  [1054, 's'],
  [1058, 'min'],
  [1059, 'h'],
  [1060, 'd'],
  [1061, 'm/s'],
  [1077, 'Hz'],
  [1088, 'kg'],
  [1089, 'g'],
  [1092, 't'],
  [1130, 'Pa'],
  [1132, 'MPa'],
  [1133, 'kPa'],
  [1137, 'bar'],
  [1138, 'mbar'],
  [1209, 'A'],
  [1211, 'mA'],
  [1240, 'V'],
  [1243, 'mV'],
  [1281, 'Ω'],
  [1322, 'kg/s'],
  [1324, 'kg/h'],
  [1342, '%'],
  [1349, 'm³/h'],
  [1351, 'L/s'],
  [1352, 'L/min'],
  [1353, 'L/h'],
]);

export function unitOfCode(code: string): string | undefined {
  return UNIT_OF.get(Number(code));
}
