import { UsageError } from '../../platform/usage-error.ts';
import { EXIT, type SvcCommand } from './command.ts';
import { buildCommand, isHelpOrVersion, toUsageError } from './command-line.ts';
import { auditCommand } from './commands/audit.ts';
import { datasetCommand } from './commands/dataset.ts';
import { doctorCommand } from './commands/doctor.ts';
import { loginCommand } from './commands/login.ts';
import { logoutCommand } from './commands/logout.ts';
import { payCommand } from './commands/pay.ts';
import { scorecardCommand } from './commands/scorecard.ts';
import { signalCommand } from './commands/signal.ts';
import { verifyCommand } from './commands/verify.ts';
import { watchCommand } from './commands/watch.ts';
import { whoamiCommand } from './commands/whoami.ts';
import type { CliContext } from './context.ts';
import { printError } from './print-error.ts';

export const COMMANDS: readonly SvcCommand[] = [
  signalCommand,
  scorecardCommand,
  verifyCommand,
  auditCommand,
  datasetCommand,
  watchCommand,
  payCommand,
  loginCommand,
  logoutCommand,
  whoamiCommand,
  doctorCommand,
];

const PROGRAM = {
  name: 'svc',
  summary: 'Queries, pays and verifies a Bitcoin Signal Oracle',
  options: [],
  footer: `Examples:
  svc signal --horizon 7d                 the newest forecast, as far as you may see it
  svc verify latest                       checked on chain, without trusting the service
  svc login --wallet basic                as a demo wallet; PRIVATE_KEY for your own
  svc watch --since 0 | jq .type          events as JSON lines

svc <command> --help shows its options. SERVICE_URL or --url names the service.`,
};

/** @param args the command line without the program name @returns the exit code */
export async function runCli(args: string[], context: CliContext): Promise<number> {
  try {
    return await runCommand(args, context);
  } catch (error) {
    return isHelpOrVersion(error) ? EXIT.ok : printError(withCommandList(toUsageError(error)), context);
  }
}

async function runCommand(args: string[], context: CliContext): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = buildCommand(PROGRAM, context.out)
    .version(context.version, '-v, --version', 'show the version')
    .enablePositionalOptions();
  for (const command of COMMANDS) {
    const parser = buildCommand(command, context.out).action(async () => {
      exitCode = await command.run(context, parser.opts(), parser.args);
    });
    program.addCommand(parser);
  }
  await program.parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
  return exitCode;
}

function withCommandList(error: unknown): unknown {
  if (!(error instanceof UsageError) || error.field !== 'command' || error.suggestedAction !== 'Try --help.') return error;
  return new UsageError('command', error.message.slice('command: '.length), `Commands: ${COMMANDS.map(({ name }) => name).join(', ')}.`);
}
