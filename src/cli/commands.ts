import type { Command } from './command.ts';
import { audit } from './commands/audit.ts';
import { login } from './commands/login.ts';
import { logout } from './commands/logout.ts';
import { pay } from './commands/pay.ts';
import { scorecard } from './commands/scorecard.ts';
import { signal } from './commands/signal.ts';
import { verify } from './commands/verify.ts';
import { watch } from './commands/watch.ts';
import { whoami } from './commands/whoami.ts';

/** Everything that the program can do, in the order of its help. */
export const COMMANDS: readonly Command[] = [signal, scorecard, verify, audit, watch, pay, login, logout, whoami];
