import type { Page } from 'playwright-core';

/** Pixels. */
const WIDTHS = [360, 768, 1_280];

interface Layout {
  /** Horizontal overflow of the page in pixels. */
  tooWide: number;
  /** Chart widths in pixels by figure title. */
  chartWidths: Readonly<Record<string, string>>;
  /** Pairs of overlapping figures. */
  overlaps: readonly string[];
}

/** Shows the section of a tab. */
export async function openTab(page: Page, id: string): Promise<void> {
  await page.locator(`.tabs a[href="#${id}"]`).click();
}

/** Mounts the sections of all tabs and shows them at once, which no reader can. */
export async function openAllTabs(page: Page): Promise<void> {
  for (const link of await page.locator('.tabs a[href^="#"]').all()) await link.click();
  await page.evaluate(() => {
    for (const section of document.querySelectorAll('section[hidden]')) section.removeAttribute('hidden');
  });
  await page.waitForFunction(() => document.querySelector('.loading') === null);
}

/** Opens every table and disclosure, nested ones included; lazy content is loaded then. */
export async function openEverything(page: Page): Promise<number> {
  for (let opened = 0; ; ) {
    const more = await page.evaluate(() => {
      const closed = [...document.querySelectorAll('main details:not([open])')] as HTMLDetailsElement[];
      for (const one of closed) one.open = true;
      return closed.length;
    });
    if (more === 0) return opened;
    opened += more;
    // Charts are drawn one frame after they are attached.
    await page.waitForFunction(() => document.querySelector('.loading, .canvas:empty, .table-of > div:empty') === null);
  }
}

/** Viewports of a phone, a tablet and a desktop. */
export async function layoutsOf(page: Page): Promise<(Layout & { width: number })[]> {
  const layouts = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    layouts.push({ width, ...(await layoutOf(page)) });
  }
  return layouts;
}

/** Visible box of a figure; a table is visible as far as its scroll container. */
async function layoutOf(page: Page): Promise<Layout> {
  return page.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    // Within a closed disclosure a figure has a box that is not drawn.
    const visible = [...document.querySelectorAll('main figure')].filter((figure) => figure.checkVisibility());
    const figures = visible.map((figure) => {
      const seen = [figure, ...figure.querySelectorAll('*')].filter((one) => one.parentElement?.closest('.scroll') === null);
      const boxes = seen.map((one) => one.getBoundingClientRect()).filter(({ width, height }) => width > 1 && height > 1);
      return {
        title: figure.querySelector('figcaption strong')?.textContent ?? '',
        chart: figure.querySelector('.chart')?.getAttribute('width') ?? '',
        left: Math.min(...boxes.map(({ left }) => left)),
        right: Math.max(...boxes.map(({ right }) => right)),
        top: Math.min(...boxes.map(({ top }) => top)),
        bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
      };
    });
    return {
      tooWide: Math.max(0, document.documentElement.scrollWidth - innerWidth),
      chartWidths: Object.fromEntries(figures.filter(({ chart }) => chart !== '').map(({ title, chart }) => [title, chart])),
      overlaps: figures.flatMap((one, index) =>
        figures
          .slice(index + 1)
          .filter(
            (other) => one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1,
          )
          .map((other) => `${one.title} on ${other.title}`),
      ),
    };
  });
}
