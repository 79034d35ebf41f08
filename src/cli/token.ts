import { getLocalUrl, loadConfig } from '../config.ts';
import { DEMO_WALLETS, type DemoWalletName, logInDemoWallet, readDemoFile } from '../dev/demo.ts';
import { failWith } from './script.ts';
import { parseEndpointOption } from './svc/audit-options.ts';
import { parseChoice } from './svc/command.ts';
import { type CommandSyntax, parseCommandLine } from './svc/command-line.ts';

const SYNTAX: CommandSyntax = {
  name: 'npm run -s token --',
  arguments: '[wallet]',
  summary: 'Logs a demo wallet in at the running service and prints its access token, and nothing else',
  description: `[wallet] is one of ${DEMO_WALLETS.join(', ')} of DATA_DIR/demo.json.`,
  options: [['--url <url>', 'the service (default: where the settings say that it listens)', parseEndpointOption]],
  example: `TOKEN=$(npm run -s token -- premium)
  curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:\${PORT:-3000}/api/svc/oracle`,
};

export async function runTokenCommand(args: string[]): Promise<void> {
  try {
    const command = parseTokenCommand(args.length === 0 ? ['--help'] : args);
    if (args.length === 0) process.exitCode = 2;
    if (command === null) return;
    const config = loadConfig();
    const { token } = await logInDemoWallet(await readDemoFile(config.DATA_DIR), command.wallet, command.url ?? getLocalUrl(config));
    process.stdout.write(`${token}\n`);
  } catch (error) {
    failWith(error, 1);
  }
}

/** @returns null after printing the help; without a URL the local service of the settings is meant @throws UsageError */
export function parseTokenCommand(args: string[]): { wallet: DemoWalletName; url: string | undefined } | null {
  const parsed = parseCommandLine<{ url?: string }>(SYNTAX, args, process.stdout);
  if (parsed === null) return null;
  const wallet = parseChoice('wallet', parsed.positionals[0] ?? '', DEMO_WALLETS as readonly DemoWalletName[]);
  return { wallet: wallet as DemoWalletName, url: parsed.values.url };
}
