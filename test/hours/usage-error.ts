/** An argument or a missing program that the caller of the command can correct. */
export class UsageError extends Error {}
