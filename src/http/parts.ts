import type { Address } from 'viem';
import type { CardDesk } from '../../agent-card/signed-card.ts';
import type { CarryOut } from '../../skills/runner.ts';
import type { Access } from '../access/access.ts';
import type { ChainAddresses } from '../chain/addresses.ts';
import type { AttestationReader } from '../chain/attestation-reader.ts';
import type { IdentityState } from '../chain/identity.ts';
import type { ChainReading } from '../chain/reading/chain-reading.ts';
import type { ReputationState } from '../chain/reputation.ts';
import type { Commerce } from '../commerce/commerce.ts';
import type { JobDesk } from '../commerce/jobs/desk.ts';
import type { Purchases } from '../commerce/purchases/purchases.ts';
import type { Contest } from '../contest/contest.ts';
import type { Market } from '../market/market.ts';
import type { WebhookRegistry } from '../push/webhooks/registry.ts';
import type { Tickets } from '../push/websocket/tickets.ts';
import type { AttestationViewOptions } from '../record/attestation-views.ts';
import type { Caller } from '../record/caller.ts';
import type { ModelStore } from '../record/models.ts';
import type { ForecastRecord } from '../record/record.ts';
import type { ReportStores } from '../record/report-stores.ts';
import type { SelfTestDesk } from '../record/self-test/desk.ts';
import type { StatisticsDesk } from '../record/statistics/desk.ts';
import type { SetupStep } from '../setup.ts';
import type { Quote, StrikeMarket } from '../wager/venue.ts';
import type { WagerBook } from '../wager/wagers.ts';
import type { AboutParts } from './about/parts.ts';
import type { Administration } from './admin/administration.ts';
import type { AgentTasks } from './agent-tasks.ts';
import type { ServiceStatus } from './schemas/status.ts';

/** One thing the service needs to be ready, and why it is not there. */
export interface ReadinessCheck {
  name: string;
  ok: boolean;
  detail: string;
}

export interface VenueMarket {
  market: StrikeMarket;
  quote: Quote;
}

/** What the routes work with. */
export interface HttpParts {
  about: AboutParts;
  access: Access;
  /** The agent card, signed. */
  card: CardDesk;
  /** What the operator works with. */
  administration: Administration;
  version: string;
  /** What is left of the start; null once all of it is done. */
  setup(): SetupStep | null;
  publicUrl: string;
  record: ForecastRecord;
  /** Daily briefs and weekly reports. */
  reports: ReportStores;
  /** What the service has found out about itself. */
  selfTests: SelfTestDesk;
  wagers: WagerBook;
  venueName: string;
  /** Names of the venues that quote the same book as that one, itself included. */
  sameBook: readonly string[];
  market: Market;
  /** The models that stored forecasts were made with. */
  models: ModelStore;
  /** What the record is worth, with error bars. */
  statistics: StatisticsDesk;
  /** Strikes that the service's own venue quotes; empty where the venue is somebody else's. */
  venueMarkets(): Promise<VenueMarket[]>;
  chainId: number;
  addresses: ChainAddresses;
  attestations: AttestationReader;
  /** How strangers read the chain. */
  chainReading: ChainReading;
  attesterAddress: Address;
  /** Block explorer of attestations; null on a local chain, and where none is known. */
  explorerUrl: string | null;
  saltSecret: string;
  /** How a caller's answers are to be cut. */
  viewFor(caller: Caller): AttestationViewOptions;
  /** The agent as registered on chain; null before its registration. */
  identity(): IdentityState | null;
  reputation(): Promise<ReputationState | null>;
  readiness(): Promise<ReadinessCheck[]>;
  /** Everything an operator wants on one page; nothing secret, nothing unresolved. */
  status(): Promise<ServiceStatus>;
  commerce: Commerce;
  /** Jobs of agent commerce; null where none are taken. */
  jobs: JobDesk | null;
  /** What is bought by a transfer whose hash is shown. */
  purchases: Purchases;
  contest: Contest;
  webhooks: WebhookRegistry;
  /** Tickets that open WebSockets. */
  tickets: Tickets;
  /** Carries out what agents ask for. */
  carryOut: CarryOut;
  /** Their tasks. */
  agentTasks: AgentTasks;
  now(): Date;
}
