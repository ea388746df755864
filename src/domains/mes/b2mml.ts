/**
 * The MES bodies as B2MML (contract 1, Rules 6; decisions Q-MES-28): the four exchange categories of ISA-95 in the contract
 * form, and as the operations messages of B2MML V7 in the MESA form, whose element order the official schemas prescribe.
 */
import { assert } from '../../platform/base/assert.js';
import type { Format } from '../../platform/http/negotiate.js';
import { element, required, text, type XmlElement } from '../../platform/http/xml.js';
import type { EquipmentStatus, ProductDefinition, WorkOrder } from './dto.js';
import type { PendingResult } from './external-results.js';
import type { ProductionContent } from './performance.js';
import type { Availability } from './rules.js';

export interface Envelope {
  readonly site: string;
  readonly publishedAt: string;
  readonly format: Exclude<Format, 'json'>;
}

const PRODUCTION = required('OperationsType', 'Production');

function isMesa({ format }: Envelope): boolean {
  return format === 'b2mml-mesa';
}

function head({ site, publishedAt }: Envelope): XmlElement[] {
  return [required('ID', site), required('PublishedDate', publishedAt)];
}

function value(valueText: string, unit = ''): XmlElement {
  return element('Value', required('ValueString', valueText), text('UnitOfMeasure', unit));
}

function quantity(valueText: string, unit: string): XmlElement | undefined {
  return valueText === '' ? undefined : element('Quantity', required('QuantityString', valueText), text('UnitOfMeasure', unit));
}

// ---------------------------------------------------------------- product definitions

export function productDefinitionsXml(definitions: readonly ProductDefinition[], envelope: Envelope): XmlElement {
  const [root, each] = isMesa(envelope) ? (['OperationsDefinitionInformation', operationsDefinition] as const) : (['ProductDefinitionInformation', contractDefinition] as const);
  return element(root, head(envelope), definitions.map(each));
}

function contractDefinition({ name, version, description, productID, parameters, equipmentRequirements }: ProductDefinition): XmlElement {
  return element(
    'ProductDefinition',
    required('ID', name),
    text('Version', version),
    text('Description', description),
    text('ProductID', productID),
    parameters.map((parameter) =>
      element('ProductParameter', required('ID', parameter.name), value(parameter.value, parameter.engineeringUnit), text('Description', parameter.description)),
    ),
    equipmentRequirements.map(({ capability }) => element('EquipmentRequirement', required('EquipmentClassID', capability))),
  );
}

function operationsDefinition({ name, version, description, effectiveSince, parameters, equipmentRequirements }: ProductDefinition): XmlElement {
  return element(
    'OperationsDefinition',
    required('ID', name),
    text('Description', description),
    text('Version', version),
    text('EffectiveStartDate', effectiveSince),
    PRODUCTION,
    element(
      'OperationsSegment',
      required('ID', name),
      PRODUCTION,
      required('ProcessSegmentID', name),
      parameters.map((parameter) =>
        element('ParameterSpecification', required('ID', parameter.name), value(parameter.value, parameter.engineeringUnit), text('Description', parameter.description)),
      ),
      equipmentRequirements.map(({ capability }) => element('EquipmentSpecification', required('ID', capability), required('EquipmentClassID', capability))),
    ),
  );
}

// ---------------------------------------------------------------- capability

const CAPABILITY_TYPE: Readonly<Record<Availability, string>> = { available: 'Available', inUse: 'Committed', unavailable: 'Unattainable' };

export function productionCapabilityXml(equipment: readonly EquipmentStatus[], envelope: Envelope): XmlElement {
  if (!isMesa(envelope)) {
    return element(
      'ProductionCapability',
      head(envelope),
      equipment.map((unit) => element('EquipmentCapability', required('EquipmentID', unit.name), capability(unit))),
    );
  }
  return element(
    'OperationsCapabilityInformation',
    head(envelope),
    element(
      'OperationsCapability',
      head(envelope),
      PRODUCTION,
      equipment.map((unit) =>
        element(
          'EquipmentCapability',
          required('ID', unit.name),
          unit.capabilities.map((name) => required('EquipmentClassID', name)),
          required('EquipmentID', unit.name),
          capability(unit),
        ),
      ),
    ),
  );
}

function capability(unit: EquipmentStatus): XmlElement[] {
  const properties = { mode: unit.mode, allocatedTo: unit.allocatedTo, processCell: unit.processCell, area: unit.area, runtimeReady: String(unit.runtimeReady) };
  return [
    text('Description', unit.description),
    required('CapabilityType', CAPABILITY_TYPE[unit.availability]),
    text('Reason', unit.state),
    ...Object.entries(properties).map(([name, shown]) => (shown === '' ? undefined : element('EquipmentCapabilityProperty', required('ID', name), value(shown)))),
  ].filter((child) => child !== undefined);
}

// ---------------------------------------------------------------- work orders

/** Batch states in the words of MESA (decisions Q-MES-28). */
const STATE_IN_MESA: Readonly<Record<string, string>> = {
  Pending: 'Waiting',
  Running: 'Running',
  Pausing: 'Running',
  Restarting: 'Running',
  Holding: 'Running',
  Stopping: 'Running',
  Aborting: 'Running',
  Paused: 'Suspended',
  Held: 'Held',
  Complete: 'Completed',
  Stopped: 'Aborted',
  Aborted: 'Aborted',
  Failed: 'Aborted',
};

export function productionScheduleXml(orders: readonly WorkOrder[], envelope: Envelope): XmlElement {
  if (isMesa(envelope)) return element('OperationsSchedule', head(envelope), PRODUCTION, orders.map(operationsRequest));
  return element('ProductionSchedule', head(envelope), orders.map(productionRequest));
}

function productionRequest(order: WorkOrder): XmlElement {
  const made = quantity(order.quantity, order.engineeringUnit);
  return element(
    'ProductionRequest',
    required('ID', order.workOrderID),
    text('Description', order.description),
    required('ProductProductionRuleID', order.productDefinition),
    text('StartTime', order.scheduledStartTime),
    required('Priority', order.priority),
    text('RequestState', order.status),
    element(
      'SegmentRequirement',
      required('ID', order.workOrderID),
      order.parameters.map((parameter) => element('ProductionParameter', required('ID', parameter.name), value(parameter.value))),
      Object.entries(order.requestedEquipment).map(([capabilityName, unit]) =>
        element('EquipmentRequirement', required('EquipmentClassID', capabilityName), required('EquipmentID', unit)),
      ),
      made && element('MaterialProducedRequirement', made),
    ),
  );
}

function operationsRequest(order: WorkOrder): XmlElement {
  const made = quantity(order.quantity, order.engineeringUnit);
  return element(
    'OperationsRequest',
    required('ID', order.workOrderID),
    text('Description', order.description),
    text('StartTime', order.scheduledStartTime),
    PRODUCTION,
    required('Priority', order.priority),
    text('RequestState', STATE_IN_MESA[order.status ?? '']),
    required('OperationsDefinitionID', order.productDefinition),
    element(
      'SegmentRequirement',
      required('ID', order.workOrderID),
      PRODUCTION,
      required('ProcessSegmentID', order.productDefinition),
      required('OperationsDefinitionID', order.productDefinition),
      required('OperationsSegmentID', order.productDefinition),
      order.parameters.map((parameter) => element('SegmentParameter', required('ID', parameter.name), value(parameter.value))),
      Object.entries(order.requestedEquipment).map(([capabilityName, unit]) =>
        element('EquipmentRequirement', required('ID', capabilityName), required('EquipmentClassID', capabilityName), required('EquipmentID', unit)),
      ),
      made && element('MaterialRequirement', required('ID', order.productDefinition), required('MaterialUse', 'Produced'), made),
    ),
  );
}

// ---------------------------------------------------------------- performance

export function productionPerformanceXml(produced: readonly ProductionContent[], envelope: Envelope): XmlElement {
  if (isMesa(envelope)) return element('OperationsPerformance', head(envelope), PRODUCTION, produced.map(operationsResponse));
  return element('ProductionPerformance', head(envelope), produced.map(productionResponse));
}

/** Parameters as they were used and outputs as they came out. */
function productionData(record: ProductionContent, name: string): XmlElement[] {
  return [
    ...record.parameters.map((parameter) => element(name, required('ID', parameter.name), value(parameter.value, parameter.engineeringUnit))),
    ...record.outputs.map((output) => element(name, required('ID', output.name), value(output.value, output.unit))),
  ];
}

function unitsOf(record: ProductionContent): string[] {
  return [...new Set(record.equipment.map(({ unit }) => unit))];
}

function productionResponse(record: ProductionContent): XmlElement {
  return element(
    'ProductionResponse',
    required('ID', record.batchID),
    text('ProductionRequestID', record.workOrderID),
    required('ProductProductionRuleID', record.productDefinition),
    text('StartTime', record.startedAt),
    text('EndTime', record.finishedAt),
    required('ResponseState', record.state),
    element(
      'SegmentResponse',
      required('ID', record.batchID),
      productionData(record, 'ProductionData'),
      unitsOf(record).map((unit) => element('EquipmentActual', required('EquipmentID', unit))),
      record.materialInputs.map((move) => element('MaterialConsumedActual', required('MaterialLotID', move.lotID), quantity(move.quantity, move.engineeringUnit))),
      record.materialOutputs.map((move) => element('MaterialProducedActual', required('MaterialLotID', move.lotID), quantity(move.quantity, move.engineeringUnit))),
    ),
  );
}

function operationsResponse(record: ProductionContent): XmlElement {
  const state = record.recordPhase === 'Finalized' ? 'Closed' : STATE_IN_MESA[record.state];
  assert(state !== undefined, 'a record has the state of a batch');
  const materials = [...record.materialInputs.map((move) => ({ ...move, use: 'Consumed' })), ...record.materialOutputs.map((move) => ({ ...move, use: 'Produced' }))];
  return element(
    'OperationsResponse',
    required('ID', record.batchID),
    text('StartTime', record.startedAt),
    text('EndTime', record.finishedAt),
    PRODUCTION,
    text('OperationsRequestID', record.workOrderID),
    required('OperationsDefinitionID', record.productDefinition),
    required('ResponseState', state),
    element(
      'SegmentResponse',
      required('ID', record.batchID),
      text('ActualStartTime', record.startedAt),
      text('ActualEndTime', record.finishedAt),
      PRODUCTION,
      required('ProcessSegmentID', record.productDefinition),
      required('OperationsDefinitionID', record.productDefinition),
      required('OperationsSegmentID', record.productDefinition),
      required('SegmentState', state),
      productionData(record, 'SegmentData'),
      unitsOf(record).map((unit) => element('EquipmentActual', required('ID', unit), required('EquipmentID', unit))),
      materials.map((move, at) =>
        element(
          'MaterialActual',
          required('ID', `${record.batchID}-${at + 1}`),
          text('MaterialDefinitionID', move.materialID),
          text('MaterialLotID', move.lotID),
          required('MaterialUse', move.use),
          quantity(move.quantity, move.engineeringUnit),
        ),
      ),
    ),
  );
}

// ---------------------------------------------------------------- external results

export function pendingResultsXml(items: readonly PendingResult[]): XmlElement {
  return element(
    'PendingExternalResults',
    items.map((item) =>
      element(
        'PendingExternalResult',
        required('PhaseName', item.phaseName),
        text('BatchID', item.batchID),
        required('ID', item.id),
        required('ResultKey', item.resultKey),
        text('StepName', item.stepName),
        text('Min', item.min),
        text('Max', item.max),
        text('Unit', item.unit),
      ),
    ),
  );
}
