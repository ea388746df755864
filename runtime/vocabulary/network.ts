/**
 * Function-block networks as data: what a control-module template or a control program stores, before it is compiled.
 */
export type ParamValue = string | number | boolean;

export interface BlockSpec {
  readonly name: string;
  readonly type: string;
  /** Parameters of the type, and constants of its unconnected input ports, by name. */
  readonly params?: Readonly<Record<string, ParamValue>>;
  readonly comment?: string;
}

export interface Connection {
  readonly sourceBlock: string;
  readonly sourcePort: string;
  readonly destBlock: string;
  readonly destPort: string;
}

export interface VariableBinding {
  readonly variable: string;
  readonly blockRef: string;
  readonly portRef: string;
}

export interface NetworkVariable {
  readonly name: string;
  readonly dataType: string;
  readonly direction: 'input' | 'output' | 'local';
  /** `<controlModule>.<tag>` of the same unit, on an input variable. */
  readonly source?: string | undefined;
}

/** A function block type made of other blocks; expanded when a network is loaded. */
export interface CompositeType {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputs: readonly CompositePort[];
  readonly outputs: readonly CompositePort[];
  readonly params: readonly CompositeParam[];
  readonly blocks: readonly BlockSpec[];
  readonly connections: readonly Connection[];
  readonly inputBindings: readonly CompositeBinding[];
  readonly outputBindings: readonly CompositeBinding[];
  readonly paramBindings: readonly { readonly param: string; readonly blockRef: string; readonly blockParam: string }[];
}

export interface CompositePort {
  readonly name: string;
  readonly dataType: string;
  readonly defaultValue?: string | undefined;
  readonly description?: string | undefined;
}

export interface CompositeParam extends CompositePort {
  readonly required?: boolean | undefined;
}

export interface CompositeBinding {
  readonly port: string;
  readonly blockRef: string;
  readonly portRef: string;
}
