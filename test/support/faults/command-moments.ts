import type { MongoFaultProxy } from './mongo-fault-proxy.ts';
import type { WireCommand } from './wire-frames.ts';

/** Of connections, not of the work. */
const isOfWork = ({ name }: WireCommand) => !['', 'hello', 'endSessions', 'killCursors'].includes(name);

/** Acts when the nth command of the work is on its way to the database, once. */
export function atCommand(proxy: MongoFaultProxy, nth: number, act: () => void): { count(): number } {
  let commands = 0;
  proxy.plan((command) => {
    if (isOfWork(command) && ++commands === nth) act();
    return null;
  });
  return { count: () => commands };
}
