export function nodeProblem(version: string): string | undefined;
export function requireNode(): void;
export function requireNodeVersion(): void;
