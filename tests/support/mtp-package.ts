/** Module type packages of tests (VDI/VDE/NAMUR 2658): a module with services and elements, written as the tools of the field write them. */

export interface TestNode {
  readonly name: string;
  /** 1: read, 2: write, 3: both. */
  readonly access: 1 | 2 | 3;
  /** Of what its server serves. */
  readonly type?: 'float' | 'int' | 'bool' | 'string';
}

export interface TestElement {
  readonly name: string;
  /** Last part of the class below `DataAssembly`, with its folder: `IndicatorElement/AnaView`. */
  readonly className: string;
  readonly nodes: readonly TestNode[];
  readonly constants?: Readonly<Record<string, string>>;
}

export interface TestService {
  readonly name: string;
  readonly procedures: readonly {
    readonly id: number;
    readonly name: string;
    readonly isSelfCompleting?: boolean;
    readonly parameters?: readonly string[];
    readonly reportValues?: readonly string[];
  }[];
}

export interface TestModule {
  readonly name: string;
  readonly version: string;
  readonly endpoint: string;
  readonly namespace: string;
  readonly elements: readonly TestElement[];
  readonly services: readonly TestService[];
  /** Further XML in the module, and behind the hierarchies. */
  readonly inModule?: string;
  readonly behind?: string;
  readonly schemaVersion?: '2.15' | '3.0';
}

const FLAGS = ['StateChannel', 'StateOffAct', 'StateOpAct', 'StateAutAct', 'SrcChannel', 'SrcIntAct', 'SrcExtAct'] as const;
const SWITCHES = ['StateOffOp', 'StateOpOp', 'StateAutOp', 'SrcIntOp', 'SrcExtOp'] as const;

/** Nodes of a ServiceControl (VDI 2658-4). */
export const SERVICE_NODES: readonly TestNode[] = [
  ...(['CommandOp', 'CommandExt', 'ProcedureOp', 'ProcedureExt'] as const).map((name) => ({ name, access: 3, type: 'int' }) as const),
  ...(['CommandInt', 'ProcedureInt', 'StateCur', 'CommandEn', 'ProcedureCur', 'ProcedureReq', 'PosTextID'] as const).map((name) => ({ name, access: 1, type: 'int' }) as const),
  ...FLAGS.map((name) => ({ name, access: 1, type: 'bool' }) as const),
  ...SWITCHES.map((name) => ({ name, access: 3, type: 'bool' }) as const),
];

export function elementsOf({ elements, services }: TestModule): readonly TestElement[] {
  return [...services.map(({ name }) => ({ name, className: 'ServiceControl', nodes: SERVICE_NODES, constants: { OSLevel: '0', WQC: '255' } })), ...elements];
}

/** As the identifier of a node says it. */
export const identifierOf = (element: string, node: string): string => `Plc.${element}.${node}`;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const attribute = (name: string, value: string, type = 'xs:string'): string =>
  `<Attribute Name="${escaped(name)}" AttributeDataType="${type}"><Value>${escaped(value)}</Value></Attribute>`;

export function amlOf(module: TestModule): string {
  const all = elementsOf(module);
  const items = all.flatMap((element) =>
    element.nodes.map(
      ({ name, access }) =>
        `<ExternalInterface Name="${escaped(`${element.name}_${name}`)}" ID="n-${escaped(`${element.name}-${name}`)}" RefBaseClassPath="MTPCommunicationICLib/DataItem/OPCUAItem">` +
        `${attribute('Identifier', identifierOf(element.name, name))}${attribute('Namespace', module.namespace)}${attribute('Access', String(access), 'xs:unsignedByte')}</ExternalInterface>`,
    ),
  );
  const instances = all.map(
    (element) =>
      `<InternalElement Name="${escaped(element.name)}" ID="a-${escaped(element.name)}" RefBaseSystemUnitPath="MTPDataObjectSUCLib/DataAssembly/${element.className}">` +
      `${attribute('TagName', element.name)}${attribute('TagDescription', `what ${element.name} is`)}${attribute('RefID', `ref-${element.name}`)}` +
      `${Object.entries(element.constants ?? {})
        .map(([name, value]) => attribute(name, value))
        .join('')}` +
      `${element.nodes.map(({ name }) => attribute(name, `n-${element.name}-${name}`, 'xs:IDREF')).join('')}</InternalElement>`,
  );
  const members = (names: readonly string[] = [], className: string): string =>
    names.map((name) => `<InternalElement Name="${name}" RefBaseSystemUnitPath="MTPServiceSUCLib/${className}">${attribute('RefID', `ref-${name}`)}</InternalElement>`).join('');
  const services = module.services.map(
    ({ name, procedures }) =>
      `<InternalElement Name="${escaped(name)}" ID="s-${escaped(name)}" RefBaseSystemUnitPath="MTPServiceSUCLib/Service">${attribute('RefID', `ref-${name}`)}` +
      `${procedures
        .map(
          (each, at) =>
            `<InternalElement Name="${escaped(each.name)}" RefBaseSystemUnitPath="MTPServiceSUCLib/ServiceProcedure">${attribute('ProcedureID', String(each.id))}` +
            `${attribute('IsSelfCompleting', String(each.isSelfCompleting ?? false))}${attribute('IsDefault', String(at === 0))}` +
            `${members(each.parameters, 'ProcedureParameter')}${members(each.reportValues, 'ReportValue')}</InternalElement>`,
        )
        .join('')}</InternalElement>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<CAEXFile FileName="manifest.aml" SchemaVersion="${module.schemaVersion ?? '2.15'}"${module.schemaVersion === '3.0' ? ' xmlns="http://www.dke.de/CAEX"' : ''}>
<InstanceHierarchy Name="ModuleTypePackage"><InternalElement Name="${escaped(module.name)}" RefBaseSystemUnitPath="MTPSUCLib/ModuleTypePackage">${attribute('Version', module.version)}
<InternalElement Name="Communication" RefBaseSystemUnitPath="MTPSUCLib/CommunicationSet">
<InternalElement Name="SourceList" RefBaseSystemUnitPath="MTPSUCLib/CommunicationSet/SourceList"><InternalElement Name="Plc" RefBaseSystemUnitPath="MTPCommunicationSUCLib/ServerAssembly/OPCUAServer">${attribute('Endpoint', module.endpoint)}
${items.join('\n')}
</InternalElement></InternalElement>
<InternalElement Name="InstanceList" RefBaseSystemUnitPath="MTPSUCLib/CommunicationSet/InstanceList">
${instances.join('\n')}
</InternalElement></InternalElement>${module.inModule ?? ''}</InternalElement></InstanceHierarchy>
<InstanceHierarchy Name="Services">${services.join('\n')}</InstanceHierarchy>${module.behind ?? ''}
</CAEXFile>
`;
}

/** A dosing module: one service with two procedures, and one element of each family. */
export const DOSING: TestModule = {
  name: 'Dosing',
  version: '1.2.0',
  endpoint: 'opc.tcp://127.0.0.1:4840',
  namespace: 'http://example.org/dosing',
  services: [
    {
      name: 'Dose',
      procedures: [
        { id: 1, name: 'Slow', parameters: ['Amount'], reportValues: ['Dosed'] },
        { id: 2, name: 'Fast', isSelfCompleting: true, parameters: ['Amount'], reportValues: ['Dosed'] },
      ],
    },
  ],
  elements: [
    {
      name: 'Level',
      className: 'IndicatorElement/AnaView',
      nodes: [{ name: 'V', access: 1, type: 'float' }],
      constants: { VSclMin: '0', VSclMax: '120', VUnit: '1038', WQC: '255' },
    },
    { name: 'Full', className: 'IndicatorElement/BinView', nodes: [{ name: 'V', access: 1, type: 'bool' }], constants: { VState0: 'not full', VState1: 'full' } },
    { name: 'Batches', className: 'IndicatorElement/DIntView', nodes: [{ name: 'V', access: 1, type: 'int' }], constants: { VUnit: '4711' } },
    {
      name: 'Setpoint',
      className: 'OperationElement/AnaMan',
      nodes: [{ name: 'VMan', access: 3, type: 'float' }],
      constants: { VSclMin: '0', VSclMax: '50', VMin: '5', VMax: '40' },
    },
    {
      name: 'Inlet',
      className: 'ActiveElement/BinVlv',
      nodes: [
        { name: 'OpenFbk', access: 1, type: 'bool' },
        { name: 'CloseFbk', access: 1, type: 'bool' },
        { name: 'Ctrl', access: 1, type: 'bool' },
        { name: 'OpenOp', access: 3, type: 'bool' },
      ],
    },
    {
      name: 'Amount',
      className: 'OperationElement/ServParam/AnaServParam',
      nodes: [{ name: 'VOp', access: 3, type: 'float' }],
      constants: { VSclMin: '0', VSclMax: '100', VUnit: '1088' },
    },
    { name: 'Dosed', className: 'IndicatorElement/AnaView', nodes: [{ name: 'V', access: 1, type: 'float' }], constants: { VUnit: '1088' } },
  ],
};
