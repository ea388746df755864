/** Module type packages: what comes with a process module becomes what it is here. */
import { type RouteDeps, routeSet } from '../../platform/http/route.js';
import type { SettingValues } from '../../settings.js';
import type { OutputsOfBox } from '../io-modules/outputs.js';
import { secretsIn } from '../io-modules/secrets.js';
import { PackageReader } from './package-reader.js';
import { mtpImportRoutes } from './routes.js';

export interface MtpImportParts extends Omit<RouteDeps<typeof mtpImportRoutes>, 'box' | 'packages'> {
  readonly outputsOfBox: () => OutputsOfBox;
  readonly settings: Pick<SettingValues, 'secretsDir'>;
}

export function joinMtpImport({ outputsOfBox, settings, ...parts }: MtpImportParts) {
  const box = {
    get outputs() {
      return outputsOfBox();
    },
    secrets: secretsIn(settings.secretsDir),
  };
  return { routes: [routeSet(mtpImportRoutes, { ...parts, box, packages: new PackageReader() })] };
}
