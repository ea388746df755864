/** Change requests of a test: a site with areas and templates to change, and people who ask, decide and administer. */
import { startPlantGateway, type PlantGateway, type PlantOptions } from './plant-gateway.js';
import type { Answer, Client } from './gateway.js';

export const REQUESTS = '/api/v1/sites/north/changerequests';
export const AT = '/api/v1/changerequests/site-north';
export const WHY = { reason: 'the hall was renamed by the works council' };

export const manifestOf = (kind: string, name: string, spec: object = {}, metadata: object = { namespace: 'site-north' }) => ({
  apiVersion: 'control.lineside.io/v1alpha1',
  kind,
  metadata: { name, ...metadata },
  spec,
});

export const target = (kind: string, name: string) => ({ apiVersion: 'control.lineside.io/v1alpha1', kind, name });

/** What is asked for in most tests: another description of the area `hall`. */
export const HALL = { target: target('Area', 'hall'), ...WHY, manifest: manifestOf('Area', 'hall', { description: 'hall 2' }) };

export class ChangeTest {
  readonly plant: PlantGateway;
  readonly admin: Client;
  readonly author: Client;
  readonly approver: Client;

  constructor(plant: PlantGateway, admin: Client, author: Client, approver: Client) {
    this.plant = plant;
    this.admin = admin;
    this.author = author;
    this.approver = approver;
  }

  ask(spec: object = {}, name?: string, who = this.author): Promise<Answer> {
    return who.post(REQUESTS, { ...(name === undefined ? {} : { name }), spec: { ...HALL, ...spec } });
  }

  decide(action: 'approve' | 'reject' | 'withdraw', name: string, who = this.approver, body: unknown = { reason: 'checked' }): Promise<Answer> {
    return who.post(`${AT}/${name}/${action}`, body);
  }

  async phaseOf(name: string): Promise<string> {
    return (await this.admin.get(`${AT}/${name}`)).body.status.phase as string;
  }

  apply(...manifests: object[]): Promise<Answer> {
    return this.admin.post('/api/v1/apply', manifests);
  }

  /** Of a request, oldest first. */
  audits(name: string) {
    return this.plant.audits.filter(({ target }) => target.kind === 'ChangeRequest' && target.name === name);
  }
}

/** Sites north and south, and in north an area, a phase template and a block type. */
export async function startChanges(changeControl: PlantOptions['changeControl'] = {}, options: PlantOptions = {}): Promise<ChangeTest> {
  const plant = await startPlantGateway({ ...options, changeControl });
  const [admin, author, approver] = [await plant.as('admin'), await plant.as('engineer'), await plant.as('supervisor')];
  return new ChangeTest(plant, admin, author, approver);
}

export const PLANT = [
  manifestOf('Site', 'north', {}, {}),
  manifestOf('Site', 'south', {}, {}),
  manifestOf('Area', 'hall', { description: 'hall 1' }),
  manifestOf('PhaseTemplate', 'heat', { description: 'heats' }),
  manifestOf('FunctionBlockType', 'pass', { description: 'passes', inputs: [], outputs: [], blocks: [] }, {}),
];
