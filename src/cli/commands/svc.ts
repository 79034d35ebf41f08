import { join } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import type { AuditCommand } from '../../audit/command/run-audit.ts';
import { readDemoFile } from '../../dev/demo/demo-login.ts';
import { getLocalUrl, loadConfig } from '../../platform/config/config.ts';
import { SETTINGS } from '../../platform/config/settings.ts';
import type { TerminalOutput } from '../svc/context.ts';
import { COMMANDS } from '../svc/main.ts';
import { runOnTerminal } from '../svc/terminal.ts';
import { openAudit } from './audit.ts';
import { OPERATOR_COMMANDS } from './backup/commands.ts';

export function runSvcCommand(args: string[], environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const settings = () => {
    const config = loadConfig(environment);
    const isDefault = config.DATA_DIR === SETTINGS.DATA_DIR.default;
    // The data folder of npm start, whatever the working directory.
    return isDefault ? { ...config, DATA_DIR: join(import.meta.dirname, '../../..', config.DATA_DIR) } : config;
  };
  const context = {
    environment,
    version: packageJson.version,
    localUrl: () => getLocalUrl(settings()),
    demo: () => readDemoFile(settings().DATA_DIR),
    openAudit: (command: AuditCommand) => openAudit(command, settings),
    runDoctor: async (doctorArgs: readonly string[], out: TerminalOutput) => {
      const { runDoctorCommand } = await import('./doctor/doctor.ts');
      return runDoctorCommand(doctorArgs, environment, out);
    },
  };
  return runOnTerminal(args, context, [...COMMANDS, ...OPERATOR_COMMANDS]);
}
