import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

export interface LogOptions {
  level: string;
  /** Values that are replaced by their names in every line. */
  secrets: { name: string; value: string }[];
  /** Default: standard error. */
  write?: (line: string) => void;
}

/** A JSON logger that censors secrets in every line. Secrets under 8 characters are not matched. */
export function createLog(options: LogOptions): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const secrets = options.secrets.filter(({ value }) => value.length >= 8);
  const destination: DestinationStream = {
    write: (line) => write(secrets.reduce((text, { name, value }) => text.replaceAll(value, `[${name}]`), line)),
  };
  return pino({ level: options.level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}
