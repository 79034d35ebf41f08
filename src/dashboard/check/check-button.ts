import { h, replaceChildren } from '../lib/dom.ts';
import { watchLimitWait } from '../state/api.ts';

export type OnProgress = (stage: string, done: number, total: number) => void;

interface CheckButtonOptions {
  /** Text of the button while nothing runs. */
  label: () => string;
  /** Of the progress bar. */
  progressLabel: string;
  isPrimary?: boolean;
  /** @returns the outcome in one line */
  run: (signal: AbortSignal, onProgress: OnProgress) => Promise<string>;
}

/** Button of a long check, with its progress and outcome. A second click stops it. */
export function createCheckButton({ label, progressLabel, isPrimary = false, run }: CheckButtonOptions) {
  const progress = h('progress', { 'aria-label': progressLabel, hidden: true });
  const stage = h('span', { class: 'quiet' });
  const wait = h('span', { class: 'quiet' });
  const text = h('span', { role: 'status' });
  let running: AbortController | null = null;
  const button = h('button', {
    type: 'button',
    class: isPrimary && 'primary',
    onclick: () => (running === null ? void start() : running.abort()),
  });

  function name() {
    if (running === null) replaceChildren(button, label());
  }
  const onProgress: OnProgress = (what, done, total) => {
    Object.assign(progress, { max: total, value: done, hidden: false });
    replaceChildren(stage, what === '' ? '' : `${what}: ${done} of ${total}`);
  };

  async function start() {
    running = new AbortController();
    for (const element of [text, stage]) replaceChildren(element);
    replaceChildren(button, 'Stop');
    const stopCountdown = showLimitWait(wait);
    try {
      replaceChildren(text, await run(running.signal, onProgress));
    } finally {
      stopCountdown();
      replaceChildren(stage);
      progress.hidden = true;
      running = null;
      name();
    }
  }
  name();
  const startUnlessRunning = () => {
    if (running === null) void start();
  };
  return { element: h('div', { class: 'check-all' }, button, progress, stage, wait, text), name, start: startUnlessRunning };
}

/** Counts down to the end of the rate limit while anything waits for it. @returns a function that ends it */
function showLimitWait(element: HTMLElement): () => void {
  let until: Date | null = null;
  const draw = () => {
    const seconds = until === null ? 0 : Math.ceil((until.getTime() - Date.now()) / 1_000);
    replaceChildren(element, seconds > 0 ? `The limit of requests is reached: goes on in ${seconds} s` : '');
  };
  const timer = setInterval(draw, 1_000);
  const unwatch = watchLimitWait((next) => {
    until = next;
    draw();
  });
  return () => {
    clearInterval(timer);
    unwatch();
    replaceChildren(element);
  };
}
