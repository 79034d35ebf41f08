import type { SvcCommand } from './command.ts';
import { auditCommand } from './commands/audit.ts';
import { loginCommand } from './commands/login.ts';
import { logoutCommand } from './commands/logout.ts';
import { payCommand } from './commands/pay.ts';
import { scorecardCommand } from './commands/scorecard.ts';
import { signalCommand } from './commands/signal.ts';
import { verifyCommand } from './commands/verify.ts';
import { watchCommand } from './commands/watch.ts';
import { whoamiCommand } from './commands/whoami.ts';

/** Everything that the program can do, in the order of its help. */
export const COMMANDS: readonly SvcCommand[] = [
  signalCommand,
  scorecardCommand,
  verifyCommand,
  auditCommand,
  watchCommand,
  payCommand,
  loginCommand,
  logoutCommand,
  whoamiCommand,
];
