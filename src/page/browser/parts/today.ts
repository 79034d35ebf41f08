import {
  DEFAULT_HORIZON_DAYS,
  FIRST_SCREEN_PARTS,
  type FirstScreenPart,
  formatCallTitle,
  type InitialData,
  toInitialScreen,
} from '../../first-screen.ts';
import type { Markup } from '../../markup.ts';
import { BUY_EVENT } from '../buy.ts';
import { CHECK_EVENT } from '../check.ts';
import { byId, getSectionBody, toNodes } from '../dom.ts';
import { type Page, readInitialData } from '../state.ts';
import { collectFirstScreen, mountTodayDetails } from '../today.ts';
import { UNLOCK_EVENT } from '../unlock.ts';

const BROKEN_TEXT = 'This part cannot be shown: the response of the service is invalid.';

/** The newest call as far as the reader may see it, the expected range, and the record in one line. */
export function mountToday(page: Page) {
  const { store, session, poller } = page;
  const initial = readInitialData();
  const body = getSectionBody('today');
  const title = byId('today-title');
  const redraw = createPartGuard(body, initial);
  let isStarting = initial === null;
  const draw = () => {
    const data = collectFirstScreen(page, initial, isStarting);
    if (data.call?.signal === 'SELL') store.needWholeRecord();
    for (const name of Object.keys(FIRST_SCREEN_PARTS) as FirstScreenPart[]) redraw(name, () => FIRST_SCREEN_PARTS[name](data));
    const next = formatCallTitle(data.call, Date.now());
    if (title.textContent !== next) title.textContent = next;
  };
  for (const name of ['signal', 'range', 'scorecard', 'price', 'info'] as const) store.watch(name, draw);
  session.onChange(draw);
  poller.onLook(({ state, isOpen }) => {
    const was = isStarting;
    isStarting = state === 'starting' ? !isOpen : isStarting && state !== 'up';
    if (isStarting !== was) draw();
  });
  handleActions(body);
  handleHorizon(body, page.horizon);
  mountTodayDetails(page);
}

/** Redraws a part when what it shows has changed; what the server has drawn is kept. */
function createPartGuard(body: HTMLElement, initial: InitialData | null) {
  const served = toInitialScreen(initial, DEFAULT_HORIZON_DAYS);
  const drawn = new Map<FirstScreenPart, string>();
  for (const name of Object.keys(FIRST_SCREEN_PARTS) as FirstScreenPart[])
    drawn.set(name, JSON.stringify(FIRST_SCREEN_PARTS[name](served)));
  return (name: FirstScreenPart, make: () => Markup) => {
    const markup = makeSafely(make);
    const next = JSON.stringify(markup);
    if (next === drawn.get(name)) return;
    drawn.set(name, next);
    body.querySelector(`[data-part=${name}]`)?.replaceChildren(...toNodes(markup));
  };
}

function makeSafely(make: () => Markup): Markup {
  try {
    return make();
  } catch (error) {
    reportError(error);
    return BROKEN_TEXT;
  }
}

/** Dialogs that a part of the screen opens; without the script the link to buy leads to the operation. */
const DIALOG_EVENTS: Record<string, string | undefined> = { unlock: UNLOCK_EVENT, buy: BUY_EVENT };

/** The buttons are redrawn, hence one listener for all. */
function handleActions(body: HTMLElement) {
  body.addEventListener('click', (event) => {
    const { target } = event;
    const action = target instanceof Element ? target.closest<HTMLElement>('[data-do]') : null;
    if (action?.dataset.do === 'buy') event.preventDefault();
    const opens = DIALOG_EVENTS[action?.dataset.do ?? ''];
    if (opens !== undefined) action?.dispatchEvent(new Event(opens, { bubbles: true }));
    if (action?.dataset.do === 'check') document.dispatchEvent(new Event(CHECK_EVENT));
  });
}

function handleHorizon(body: HTMLElement, horizon: Page['horizon']) {
  for (const input of body.querySelectorAll<HTMLInputElement>('input[name=horizon]')) {
    input.checked = Number(input.value) === horizon.value;
    input.addEventListener('change', () => horizon.set(Number(input.value)));
  }
}
