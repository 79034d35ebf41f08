import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** Lines written since the start of the process, by the levels that an operator watches. */
export interface LogLineCounts {
  warn: number;
  error: number;
  fatal: number;
}

export interface LogOptions {
  level: string;
  /** Values that are replaced by their names in every line. */
  secrets: { name: string; value: string }[];
  /** Counts the lines of its levels. */
  lines?: LogLineCounts;
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
  const { level, lines } = options;
  return pino(
    { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime, ...(lines && { hooks: countLines(lines) }) },
    destination,
  );
}

export const createLineCounts = (): LogLineCounts => ({ warn: 0, error: 0, fatal: 0 });

/** The hook runs for lines that are written: those below the level never reach it. */
function countLines(lines: LogLineCounts): LoggerOptions['hooks'] {
  return {
    logMethod(input, method, level) {
      const name = pino.levels.labels[level];
      if (name !== undefined && name in lines) lines[name as keyof LogLineCounts] += 1;
      method.apply(this, input);
    },
  };
}
