/** A running service that is measured. */
export interface Target {
  url: string;
  /** Of the process whose descendants run database and chain. */
  pid: number;
  /** An address of this machine that has not been used before. */
  nextAddress(): string;
  report(line: string): void;
}

/** What was sent to the service. */
export interface Sent {
  requests: number;
  bytes: number;
}

/** The same kind of request, as a client sends it and as an attacker does. */
export interface Attack {
  name: string;
  /** What the attacker does, in one sentence. */
  what: string;
  /** `minute`: both sides use up the allowance of one address; default: each kilobyte that is sent is compared. */
  per?: 'kilobyte' | 'minute';
  honest(target: Target): Promise<Sent>;
  hostile(target: Target): Promise<Sent>;
}
