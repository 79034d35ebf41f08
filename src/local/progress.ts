/** Shows how far long work has come: a bar on a terminal, elsewhere a line each tenth. */
export interface ProgressBar {
  update(done: number, total: number, label: string): void;
  /** Ends the line of the bar. */
  end(): void;
}

export interface ProgressOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

const WIDTH = 30;

export function createProgressBar(title: string, output: ProgressOutput = process.stderr): ProgressBar {
  let lastTenth = -1;
  let shown = false;

  function bar(done: number, total: number, label: string): string {
    const filled = Math.round((done / total) * WIDTH);
    return `${title} [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${done}/${total} ${label}`;
  }

  return {
    update(done, total, label) {
      if (output.isTTY) {
        output.write(`\r${bar(done, total, label)}\x1b[K`);
        shown = true;
        return;
      }
      const tenth = Math.floor((10 * done) / total);
      if (tenth > lastTenth) output.write(`${bar(done, total, label)}\n`);
      lastTenth = tenth;
    },
    end() {
      if (shown) output.write('\n');
    },
  };
}
