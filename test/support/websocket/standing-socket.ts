import { EventEmitter } from 'node:events';
import { vi } from 'vitest';

/** A socket whose other side stands still: nothing that is sent arrives, and nothing comes. */
export class StandingSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  readonly close = vi.fn((_code: number) => {
    this.readyState = 2;
  });
  readonly terminate = vi.fn(() => {
    this.readyState = 3;
    this.emit('close');
  });
  readonly ping = vi.fn();
  readonly write = vi.fn((..._written: unknown[]) => true);
}
