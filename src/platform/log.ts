import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

export interface LogOptions {
  level: string;
  /** Texts that are replaced by their names wherever they turn up in a line. */
  secrets: { name: string; value: string }[];
  /** Where lines go; standard error unless told. */
  write?: (line: string) => void;
}

/** A JSON logger whose every line is searched for secrets before it is written. Secrets under 8 characters are not searched for. */
export function createLog(options: LogOptions): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const secrets = options.secrets.filter(({ value }) => value.length >= 8);
  const destination: DestinationStream = {
    write: (line) => write(secrets.reduce((text, { name, value }) => text.replaceAll(value, `[${name}]`), line)),
  };
  return pino({ level: options.level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}
