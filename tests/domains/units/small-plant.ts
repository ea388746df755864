/** A whole appliance with one unit, one simulated I/O module and what the test engineers over REST; plant time is wall time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Appliance } from '../../../src/appliance/appliance.js';
import { startAppliance } from '../../../src/main.js';
import { readSettings } from '../../../src/settings.js';
import { tellInterface } from '../../support/answer-check.js';
import { type ApiAnswer, ApiClient, eventually } from '../../support/api-client.js';

export const AT = '/api/v1/sites/north';

export class SmallPlant {
  readonly api: ApiClient;
  readonly #appliance: Appliance;
  readonly #dataDir: string;

  constructor(appliance: Appliance, dataDir: string) {
    this.#appliance = appliance;
    this.#dataDir = dataDir;
    this.api = new ApiClient(`http://127.0.0.1:${appliance.port}`);
  }

  async end(): Promise<void> {
    await this.#appliance.stop();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }

  /** A request that must succeed. */
  async did(answer: Promise<ApiAnswer>): Promise<ApiAnswer['body']> {
    const { status, text, body } = await answer;
    if (status >= 300) throw new Error(`${status} ${text}`);
    return body;
  }

  /** Reads until the body is as wanted; a failure tells what was read last. */
  async until(route: string, wanted: (body: ApiAnswer['body']) => boolean): Promise<ApiAnswer['body']> {
    let last = '';
    const look = async (): Promise<ApiAnswer['body']> => {
      const { body, text } = await this.api.get(`${AT}/${route}`);
      last = text;
      return body !== undefined && wanted(body) ? { body } : undefined;
    };
    const found = await eventually(route, look, 20_000, 10).catch((fault: Error) => {
      throw new Error(`${fault.message}; it is ${last.slice(0, 1500)}`);
    });
    return found.body;
  }

  tag(address: string): Promise<ApiAnswer['body']> {
    return this.api.get(`${AT}/units/r1/tags/${address}`).then(({ body }) => body);
  }
}

/** A temperature loop: a transmitter, a limit, a ratio that can divide by zero, a counter that must not forget. */
export const LOOP = {
  name: 'loop',
  moduleType: 'temperature-loop',
  deviceClass: 'controller',
  blocks: [
    { name: 'ai', type: 'AI', params: { addr: '', rawMin: 0, rawMax: 100, engMin: 0, engMax: 100 } },
    { name: 'ratio', type: 'DIV', params: { IN1: 12.5, IN2: 2.5 } },
    { name: 'ctu', type: 'CTU', params: { PV: 5 } },
    { name: 'gain', type: 'MUL', params: { IN2: 2 } },
    { name: 'conv', type: 'TO_INT', params: { IN: '7' } },
  ],
  dataConnections: [{ sourceBlock: 'ai', sourcePort: 'OUT', destBlock: 'gain', destPort: 'IN1' }],
  tags: [
    { name: 'pv', dataType: 'Float', blockRef: 'ai', portRef: 'OUT' },
    { name: 'divisor', dataType: 'Float', accessLevel: 'readwrite', blockRef: 'ratio', portRef: 'IN2', engMin: '0', engMax: '${ai.engMax / 2.0}', role: 'setpoint' },
    { name: 'quotient', dataType: 'Float', blockRef: 'ratio', portRef: 'OUT' },
    { name: 'pulse', dataType: 'Boolean', accessLevel: 'readwrite', blockRef: 'ctu', portRef: 'CU' },
    { name: 'count', dataType: 'Integer', blockRef: 'ctu', portRef: 'CV' },
    { name: 'doubled', dataType: 'Float', blockRef: 'gain', portRef: 'OUT' },
    { name: 'word', dataType: 'String', accessLevel: 'readwrite', blockRef: 'conv', portRef: 'IN' },
    { name: 'number', dataType: 'Integer', blockRef: 'conv', portRef: 'OUT' },
    { name: 'limit', dataType: 'Float', accessLevel: 'readwrite', engMin: 'ai.engMin', engMax: 'ai.engMax', publishMode: 'onChange' },
    { name: 'free', dataType: 'Float', accessLevel: 'readwrite', engMin: '', engMax: '${10.0 / ai.engMin}' },
  ],
};

/** An interlock that can be tripped, and an output that can be overridden. */
export const LOCKED = {
  name: 'locked',
  blocks: [
    { name: 'ilk', type: 'INTERLOCK' },
    { name: 'out', type: 'MUL', params: { IN1: 1.5, IN2: 2 } },
  ],
  tags: [
    { name: 'healthy', dataType: 'Boolean', accessLevel: 'readwrite', blockRef: 'ilk', portRef: 'IN1' },
    { name: 'ok', dataType: 'Boolean', blockRef: 'ilk', portRef: 'OK' },
    { name: 'out', dataType: 'Float', accessLevel: 'readwrite', blockRef: 'out', portRef: 'OUT' },
  ],
};

/** Site, unit, controller and I/O module; no control module yet. */
export async function startSmallPlant(): Promise<SmallPlant> {
  process.env.LINESIDE_LOG_LEVEL ??= 'silent';
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-unit-'));
  const settings = readSettings(
    [],
    {
      LINESIDE_GATEWAY__HTTPPORT: '0',
      LINESIDE_GATEWAY__LISTEN: '127.0.0.1',
      LINESIDE_GATEWAY__OPERATINGMODE: 'development',
      LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false',
      LINESIDE_AUTH__MODE: 'none',
      LINESIDE_DEMO__ENABLED: 'false',
    },
    dataDir,
  );
  const appliance = await startAppliance(settings, { version: '1.2.3', commit: '' });
  tellInterface(appliance.port, appliance.rows);
  const plant = new SmallPlant(appliance, dataDir);
  const { api } = plant;
  await plant.did(api.post('/api/v1/sites', { name: 'north' }));
  await plant.did(api.post(`${AT}/processcells`, { name: 'train' }));
  await plant.did(api.post(`${AT}/units`, { name: 'r1', processCellName: 'train' }));
  await plant.did(
    api.post('/api/v1/apply', {
      apiVersion: 'physical.lineside.io/v1alpha1',
      kind: 'Unit',
      metadata: { name: 'r1', namespace: 'site-north' },
      spec: { processCellName: 'train', scanInterval: '20ms' },
    }),
  );
  await plant.did(api.post(`${AT}/controllers`, { name: 'edge-1', simulation: true }));
  await plant.did(
    api.post(`${AT}/iomodules`, {
      name: 'io-1',
      controllerRef: 'edge-1',
      protocol: 'simulation',
      options: { tick: '20ms' },
      channels: [{ name: 'tt', address: 'tt', direction: 'input', dataType: 'float' }],
      simulation: { behaviors: [{ address: 'tt', type: 'NoisyConstant', params: { value: '42', noise: '0' } }] },
    }),
  );
  return plant;
}
