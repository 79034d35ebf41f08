import type { Address } from 'viem';
import type { CardService } from '../../../agent-card/card/signed-card.ts';
import type { PaidCalls } from '../../../skills/paid-call.ts';
import type { RunSkill } from '../../../skills/runner.ts';
import type { AccessSource } from '../../auth/access/access-entry.ts';
import type { AuthService } from '../../auth/auth-service.ts';
import type { Caller } from '../../auth/caller.ts';
import type { ChainAddresses } from '../../chain/addresses.ts';
import type { AttestationReader } from '../../chain/eas/attestation-reader.ts';
import type { RegisteredAgent } from '../../chain/erc8004/identity.ts';
import type { ReputationState } from '../../chain/erc8004/reputation.ts';
import type { RpcAccess } from '../../chain/rpc-proxy/read-only-rpc.ts';
import type { Commerce } from '../../commerce/commerce.ts';
import type { ClientFeedback } from '../../commerce/feedback/client-feedback.ts';
import type { JobService } from '../../commerce/jobs/job-service.ts';
import type { PurchaseService } from '../../commerce/purchases/purchase-service.ts';
import type { Contest } from '../../contest/contest.ts';
import type { WebhookRegistry } from '../../events/webhooks/registry/webhook-registry.ts';
import type { TicketStore } from '../../events/websocket/ticket-store.ts';
import type { Market } from '../../market/market.ts';
import type { StartupStep } from '../../platform/startup/startup-progress.ts';
import type { AttestationViewOptions } from '../../record/attestations/view.ts';
import type { ChampionLog } from '../../record/challenge/champion-log.ts';
import type { CrowdFiguresReader } from '../../record/crowd/crowd-figures.ts';
import type { DatasetService } from '../../record/dataset/dataset-service.ts';
import type { DistributionScores } from '../../record/distributions/distribution-scores.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import type { ModelStore } from '../../record/model-store.ts';
import type { ReportStores } from '../../record/report-store.ts';
import type { SelfTestService } from '../../record/self-test/service.ts';
import type { StatisticsService } from '../../record/statistics/statistics-service.ts';
import type { TimestampStore } from '../../record/timestamps/timestamp-store.ts';
import type { Quote, StrikeMarket } from '../../wager/venue.ts';
import type { WagerBook } from '../../wager/wager-book.ts';
import type { AdminService } from './admin/admin-service.ts';
import type { AgentTasks } from './agent/tasks/agent-tasks.ts';
import type { DemoWallets } from './demo/demo-wallets.ts';
import type { AboutDeps } from './service/about/deps.ts';
import type { Readiness } from './service/health/schemas.ts';
import type { ServiceStatus } from './service/health/status-schemas.ts';

export interface VenueMarket {
  market: StrikeMarket;
  quote: Quote;
}

export interface HttpDeps {
  about: AboutDeps;
  access: AuthService;
  /** Where a wallet's standing access is listed and ended. */
  accessSources: readonly AccessSource[];
  /** Whether assistants can authorize by OAuth at the MCP endpoint of accounts. */
  hasOAuth: boolean;
  card: CardService;
  administration: AdminService;
  version: string;
  /** Current startup step; null once startup is complete. */
  setup(): StartupStep | null;
  /** From the announcement of a stop on. */
  isStopping(): boolean;
  publicUrl: string;
  record: ForecastRecord;
  distributionScores: DistributionScores;
  timestamps: TimestampStore;
  reports: ReportStores;
  selfTests: SelfTestService;
  wagers: WagerBook;
  crowd: CrowdFiguresReader;
  venueName: string;
  /** Venues that quote the same book as `venueName`, itself included. */
  sameBook: readonly string[];
  market: Market;
  models: ModelStore;
  statistics: StatisticsService;
  champions: Pick<ChampionLog, 'list'>;
  dataset: DatasetService;
  /** Strikes with quotes of the service's own venue; empty for an external venue. */
  venueMarkets(): Promise<VenueMarket[]>;
  chainId: number;
  addresses: ChainAddresses;
  attestations: AttestationReader;
  chainReading: RpcAccess;
  attesterAddress: Address;
  /** EAS explorer; null on a local chain, and where none is known. */
  explorerUrl: string | null;
  saltSecret: string;
  /** What a caller may read of unresolved forecasts. */
  viewFor(caller: Caller): AttestationViewOptions;
  /** Demo wallets of a local chain; null on a real one. */
  demo: DemoWallets | null;
  /** Null before the agent is registered on chain. */
  identity(): RegisteredAgent | null;
  reputation(): Promise<ReputationState | null>;
  clientFeedback: ClientFeedback;
  readiness(): Promise<Readiness['checks']>;
  status(): Promise<ServiceStatus>;
  commerce: Commerce;
  /** Null where the service takes no ERC-8183 jobs. */
  jobs: JobService | null;
  purchases: PurchaseService;
  contest: Contest;
  webhooks: WebhookRegistry;
  tickets: TicketStore;
  runSkill: RunSkill;
  paidCalls: PaidCalls;
  agentTasks: AgentTasks;
  now(): Date;
}
