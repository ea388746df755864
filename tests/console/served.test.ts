/**
 * What the console reads of a body is what its schema tells: a member that goes, or becomes something else, does not compile here.
 * The types of the console name what it reads and nothing beside it; the schemas cannot be imported there, where there is no Node.
 */
import t from 'tap';
import type * as v from 'valibot';
import type * as console from '../../src/console/data/types.js';
import type * as access from '../../src/domains/access/bodies.js';
import type { AlarmEvent } from '../../src/domains/alarms/alarm-event.js';
import type { AlarmBody } from '../../src/domains/alarms/dto.js';
import type { AlarmReport } from '../../src/domains/alarms/metrics.js';
import type { AuditPage, AuditRecordBody } from '../../src/domains/audit/bodies.js';
import type { BatchBody, BatchItem } from '../../src/domains/batches/reading/dto.js';
import type { ElementItem, PhaseBody, ProcedureBody, SequenceBody } from '../../src/domains/batches/reading/element-dto.js';
import type { Prompt } from '../../src/domains/commands/prompt-routes.js';
import type { ModuleBody } from '../../src/domains/control-modules/dto.js';
import type { IOModuleBody } from '../../src/domains/io-modules/dto.js';
import type { ActiveWork } from '../../src/domains/plant/kind.js';
import type { ProceduralChartField } from '../../src/domains/procedures/kind.js';
import type { TagDescriptor } from '../../src/domains/tags/catalog.js';
import type { TagValue } from '../../src/domains/tags/live.js';
import type { SiteOverview } from '../../src/domains/units/overview.js';
import type { UnitBody } from '../../src/domains/units/unit-dto.js';
import type { ToldBy } from '../../src/platform/http/replies.js';

/** JSON has no `undefined`: a member that may be left out is there or is not. */
type Arrived<Value> = Value extends readonly (infer Item)[]
  ? readonly Arrived<Item>[]
  : Value extends object
    ? { readonly [Member in keyof Value]: Arrived<Exclude<Value[Member], undefined>> }
    : Value;

/** Compiles when the console finds in what is served all that it reads. */
function reads<Read>() {
  return <Served>(..._fits: Arrived<Served> extends Read ? [] : ['the console reads what is not served']): boolean => true;
}

t.test('what the console reads is told by the schemas of what is served', async (t) => {
  t.ok(reads<console.AuthConfig>()<access.AuthConfig>());
  t.ok(reads<console.Me>()<access.Me>());
  t.ok(reads<console.Session>()<access.SessionBody>());
  t.ok(reads<console.SiteOverview>()<SiteOverview>());
  t.ok(reads<console.ActiveWork>()<ToldBy<typeof ActiveWork>>());
  t.ok(reads<console.UnitInfo>()<UnitBody>());
  t.ok(reads<console.IoModule>()<IOModuleBody>());
  t.ok(reads<console.ModuleInfo>()<ModuleBody>());
  t.ok(reads<console.TagDescriptor>()<TagDescriptor>());
  t.ok(reads<console.TagValue>()<ToldBy<typeof TagValue>>());
  t.ok(reads<console.BatchItem>()<BatchItem>());
  t.ok(reads<console.BatchDetail>()<BatchBody>());
  t.ok(reads<console.PhaseAtWork>()<ElementItem>());
  t.ok(reads<console.ElementDetail>()<ToldBy<typeof PhaseBody>>());
  t.ok(reads<Omit<console.ElementDetail, 'spec'>>()<ToldBy<typeof SequenceBody>>());
  t.ok(reads<Omit<console.ElementDetail, 'spec'>>()<ToldBy<typeof ProcedureBody>>());
  t.ok(reads<console.ProceduralChart>()<v.InferOutput<typeof ProceduralChartField>>());
  t.ok(reads<console.Prompt>()<Prompt>());
  t.ok(reads<console.Alarm>()<AlarmBody>());
  t.ok(reads<console.AlarmEvent>()<AlarmEvent>());
  t.ok(reads<console.AlarmMetrics>()<AlarmReport>());
  t.ok(reads<console.AuditRecord>()<AuditRecordBody>());
  t.ok(reads<console.LogPage<console.AuditRecord>>()<ToldBy<typeof AuditPage>>());
  // @ts-expect-error a unit is no alarm
  t.ok(reads<console.Alarm>()<UnitBody>());
});
