import type { CommandEntry } from './command.ts';

/** Every command of `svc`; only the one that is called is loaded. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'signal',
    summary: 'The newest forecast, as far as you may see it',
    load: async () => (await import('./commands/signal.ts')).signalCommand,
  },
  {
    name: 'range',
    summary: 'The expected range of the price, which says nothing of the direction',
    load: async () => (await import('./commands/range.ts')).rangeCommand,
  },
  {
    name: 'scorecard',
    summary: 'The scores of all forecasts, with error bars',
    load: async () => (await import('./commands/scorecard.ts')).scorecardCommand,
  },
  {
    name: 'verify',
    summary: 'Reads one forecast, or all of them, from the chain and checks everything that the chain shows',
    load: async () => (await import('./commands/verify.ts')).verifyCommand,
  },
  {
    name: 'audit',
    summary: 'Recomputes the whole record from chain and prices, and reports every difference',
    load: async () => (await import('./commands/audit.ts')).auditCommand,
  },
  {
    name: 'dataset',
    summary: 'The resolved record as files: lists the tables, or downloads one',
    load: async () => (await import('./commands/dataset.ts')).datasetCommand,
  },
  {
    name: 'watch',
    summary: 'Prints events as they happen and reconnects after interruptions',
    load: async () => (await import('./commands/watch.ts')).watchCommand,
  },
  {
    name: 'mcp',
    summary: 'Serves MCP over standard input and output, for an assistant that starts its servers itself',
    load: async () => (await import('./commands/mcp.ts')).mcpCommand,
  },
  {
    name: 'pay',
    summary: 'Buys one answer by x402, without an account, and checks its receipt',
    load: async () => (await import('./commands/pay.ts')).payCommand,
  },
  {
    name: 'login',
    summary: 'Logs a wallet in and stores its token for the other commands',
    load: async () => (await import('./commands/session/login.ts')).loginCommand,
  },
  {
    name: 'logout',
    summary: 'Ends the session of svc login and deletes its token',
    load: async () => (await import('./commands/session/logout.ts')).logoutCommand,
  },
  {
    name: 'whoami',
    summary: 'Your wallet, its tier and balance, and when the token expires',
    load: async () => (await import('./commands/session/whoami.ts')).whoamiCommand,
  },
  {
    name: 'access',
    summary: 'Lists what your wallet has granted, makes API keys for bots, and revokes',
    load: async () => (await import('./commands/access.ts')).accessCommand,
  },
  {
    name: 'doctor',
    summary: 'Says whether the service of this folder is ready to run, and names every fault at once',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    name: 'completion',
    summary: 'Prints a completion script for bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completionCommand,
  },
];
