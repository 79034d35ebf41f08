import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { getTraceLogFields } from './tracing.ts';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** Lines written since the start of the process. */
export interface LogCounts {
  /** By the levels that an operator watches. */
  levels: { warn: number; error: number; fatal: number };
  /** By message, of those that are counted. */
  messages: Record<string, number>;
}

interface LogOptions {
  level: string;
  /** Values that are replaced by their names in every line. */
  secrets: { name: string; value: string }[];
  /** Counts the lines of its levels and messages. */
  counts?: LogCounts;
  /** Default: standard error. */
  write?: (line: string) => void;
}

/** A JSON logger that censors secrets in every line, and adds the ids of the active trace. Secrets under 8 characters are not matched. */
export function createLog(options: LogOptions): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const secrets = options.secrets.filter(({ value }) => value.length >= 8);
  const destination: DestinationStream = {
    write: (line) => write(secrets.reduce((text, { name, value }) => text.replaceAll(value, `[${name}]`), line)),
  };
  const { level, counts } = options;
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: getTraceLogFields,
      ...(counts && { hooks: countLines(counts) }),
    },
    destination,
  );
}

/** @param messages the texts whose lines are counted */
export function createLogCounts(messages: readonly string[] = []): LogCounts {
  return { levels: { warn: 0, error: 0, fatal: 0 }, messages: Object.fromEntries(messages.map((message) => [message, 0])) };
}

/** The hook runs for lines that are written: those below the level never reach it. */
function countLines({ levels, messages }: LogCounts): LoggerOptions['hooks'] {
  return {
    logMethod(input, method, level) {
      const name = pino.levels.labels[level];
      if (name !== undefined && name in levels) levels[name as keyof LogCounts['levels']] += 1;
      const message = input.find((part): part is string => typeof part === 'string');
      if (message !== undefined && Object.hasOwn(messages, message)) messages[message]! += 1;
      method.apply(this, input);
    },
  };
}
