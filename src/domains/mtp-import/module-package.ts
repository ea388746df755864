/**
 * What a module type package says (VDI/VDE/NAMUR 2658-1, -3, -4; AutomationML), as plain records that go from thread to thread. Each part keeps
 * its path in the file, so that what becomes of it can be told.
 */
import type { ReportRow } from './report.js';

/** A node of the OPC UA server of the module. */
export interface Item {
  /** ID in the file: two variables may stand on one node. */
  readonly id: string;
  readonly path: string;
  readonly server: string;
  /** As a channel has it: `nsu=<namespace>;s=<identifier>`. */
  readonly nodeId: string;
  readonly isReadable: boolean;
  readonly isWritable: boolean;
}

/** One variable of a data assembly: a node, or a constant of the file. */
export interface Variable {
  readonly name: string;
  readonly path: string;
  readonly item?: Item;
  readonly constant?: string;
}

/** A data assembly (VDI 2658-3, -4): AnaView, BinVlv, ServiceControl and so on. */
export interface Assembly {
  /** Unique among the assemblies of a package. */
  readonly name: string;
  /** Last part of its class, `AnaView`. */
  readonly className: string;
  readonly path: string;
  readonly description: string;
  readonly refId: string;
  readonly variables: readonly Variable[];
}

export interface PackageProcedure {
  readonly id: number;
  readonly name: string;
  readonly isDefault: boolean;
  readonly isSelfCompleting: boolean;
  /** Names of assemblies. */
  readonly parameters: readonly string[];
  readonly reportValues: readonly string[];
}

export interface PackageService {
  readonly name: string;
  readonly path: string;
  /** Name of its ServiceControl; undefined where the package has none. */
  readonly control: string | undefined;
  readonly procedures: readonly PackageProcedure[];
  /** Configuration parameters: names of assemblies. */
  readonly parameters: readonly string[];
}

export interface PackageServer {
  readonly name: string;
  readonly path: string;
  /** `opc.tcp://...`, as the file has it. */
  readonly endpoint: string;
}

export interface ModulePackage {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  readonly servers: readonly PackageServer[];
  readonly assemblies: readonly Assembly[];
  readonly services: readonly PackageService[];
  readonly report: readonly ReportRow[];
}
