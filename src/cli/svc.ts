import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import type { AuditCommand } from './svc/audit-options.ts';
import { type CommandEntry, listCommand, type TerminalOutput } from './svc/context.ts';
import { COMMANDS, runOnTerminal } from './svc/main.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Loads what a command needs when it needs it: settings, chain and database take longer than most answers. */
export function runSvcCommand(args: string[], environment: Environment): Promise<void> {
  const context = {
    environment,
    version: packageJson.version,
    localUrl: async () => {
      const { getLocalUrl } = await import('../config.ts');
      return getLocalUrl(await loadSettings(environment));
    },
    demo: async () => {
      const { readDemoFile } = await import('../dev/demo.ts');
      return readDemoFile((await loadSettings(environment)).DATA_DIR);
    },
    openAudit: async (command: AuditCommand) => {
      const { openAudit } = await import('./audit.ts');
      const config = await loadSettings(environment);
      return openAudit(command, () => config);
    },
    runDoctor: async (doctorArgs: readonly string[], out: TerminalOutput) => {
      const { runDoctorCommand } = await import('./doctor.ts');
      return runDoctorCommand(doctorArgs, environment, out);
    },
  };
  return runOnTerminal(args, context, [...COMMANDS, ...OPERATOR_COMMANDS]);
}

async function loadSettings(environment: Environment) {
  const { loadConfig } = await import('../config.ts');
  const { SETTINGS } = await import('../settings.ts');
  const config = loadConfig(environment);
  const isDefault = config.DATA_DIR === SETTINGS.DATA_DIR.default;
  // The data folder of npm start, whatever the working directory.
  return isDefault ? { ...config, DATA_DIR: join(import.meta.dirname, '../..', config.DATA_DIR) } : config;
}

/** Commands of `svc` that need the folder of the service. */
export const OPERATOR_COMMANDS: readonly CommandEntry[] = [
  listCommand('backup', 'Backs the database up into an encrypted file, and reads it back (operators)', () => import('./backup.ts')),
  listCommand('restore', 'Restores a backup into an empty database (operators)', () => import('./backup.ts')),
];
