import { formatMoney } from './money.ts';
import { OFFERINGS, type Offering } from './price-list.ts';

const PAYMENT_DESCRIPTIONS = {
  x402: ({ example }: Offering) => `with the request: \`${example.split(',', 1)[0]}\``,
  purchase: () => 'by a transfer, then `POST /api/svc/commerce/purchase`',
  'agent-commerce': () => 'by a job of ERC-8183',
} as const;

export function renderOfferingsTable(): string {
  const rows = OFFERINGS.map(
    (offering) =>
      `| \`${offering.name}\` | ${formatMoney(offering.price)} | ${PAYMENT_DESCRIPTIONS[offering.channel](offering)} | ${offering.description} |`,
  );
  return ['| Offering | Price | Paid for | What it is |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
