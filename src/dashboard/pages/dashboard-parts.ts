import { mountAccount } from '../header/account.ts';
import { mountConnection } from '../header/connection.ts';
import { mountOrigin } from '../header/origin.ts';
import { mountStartup } from '../header/startup.ts';
import { mountAccuracy } from '../parts/accuracy.ts';
import { mountAttestations } from '../parts/attestations.ts';
import { mountCrowd } from '../parts/crowd.ts';
import { mountEvents } from '../parts/events.ts';
import { mountFeeds } from '../parts/feeds.ts';
import { mountPrice } from '../parts/price.ts';
import { mountRegimes } from '../parts/regimes.ts';
import { mountSelfTests } from '../parts/self-tests.ts';
import { mountCalibration } from '../parts/skill/calibration.ts';
import { mountChallenge } from '../parts/skill/challenge.ts';
import { mountScoresOverTime } from '../parts/skill/scores-over-time.ts';
import { mountToday } from '../parts/today.ts';
import { mountWagers } from '../parts/wagers.ts';
import type { Page } from '../state/page.ts';
import type { ApiResponses } from '../state/responses.ts';

type Mount = (page: Page) => void;

export const HEADER_PARTS: readonly Mount[] = [mountConnection, mountAccount, mountOrigin, mountStartup];

/** By the id of the section. */
export const SECTION_PARTS: Readonly<Record<string, Mount>> = {
  today: mountToday,
  scores: mountScoresOverTime,
  attestations: mountAttestations,
};

/** Refreshed whatever is shown. */
export const PAGE_RESOURCES: readonly (keyof ApiResponses)[] = ['info', 'stats', 'price', 'signal', 'range', 'scorecard', 'series'];

interface TabPart {
  mount: Mount;
  /** Refreshed while the tab is shown. */
  resources: readonly (keyof ApiResponses)[];
}

/** Mounted when they are first shown. */
export const TAB_PARTS: Readonly<Record<string, TabPart>> = {
  price: { mount: mountPrice, resources: [] },
  regimes: { mount: mountRegimes, resources: [] },
  accuracy: { mount: mountAccuracy, resources: [] },
  calibration: { mount: mountCalibration, resources: [] },
  challenge: { mount: mountChallenge, resources: ['challenge'] },
  crowd: { mount: mountCrowd, resources: ['crowd'] },
  wagers: { mount: mountWagers, resources: ['wagers'] },
  'self-tests': { mount: mountSelfTests, resources: ['selfTests'] },
  events: { mount: mountEvents, resources: [] },
  feeds: { mount: mountFeeds, resources: ['feeds'] },
};
