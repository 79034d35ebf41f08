import { join } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { readDemoFile } from '../../dev/demo/demo-login.ts';
import { getLocalUrl, loadConfig } from '../../platform/config/config.ts';
import { SETTINGS } from '../../platform/config/settings.ts';
import { runOnTerminal } from '../svc/terminal.ts';
import { openAudit } from './audit.ts';

export function runSvcCommand(args: string[], environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const settings = () => {
    const config = loadConfig(environment);
    const isDefault = config.DATA_DIR === SETTINGS.DATA_DIR.default;
    // The data folder of npm start, whatever the working directory.
    return isDefault ? { ...config, DATA_DIR: join(import.meta.dirname, '../../..', config.DATA_DIR) } : config;
  };
  return runOnTerminal(args, {
    environment,
    version: packageJson.version,
    localUrl: () => getLocalUrl(settings()),
    demo: () => readDemoFile(settings().DATA_DIR),
    openAudit: (command) => openAudit(command, settings),
    runDoctor: async (doctorArgs, out) => {
      const { runDoctorCommand } = await import('./doctor/doctor.ts');
      return runDoctorCommand(doctorArgs, environment, out);
    },
  });
}
