import { displayMoney } from './money.ts';
import { OFFERINGS, type Offering } from './offerings.ts';

const PAID_BY = {
  x402: ({ example }: Offering) => `with the request: \`${example.split(',', 1)[0]}\``,
  purchase: () => 'by a transfer, then `POST /api/svc/commerce/purchase`',
  'agent-commerce': () => 'by a job of ERC-8183',
} as const;

/** Everything that is sold as a Markdown table. */
export function offeringsMarkdown(): string {
  const rows = OFFERINGS.map(
    (offering) =>
      `| \`${offering.name}\` | ${displayMoney(offering.price)} | ${PAID_BY[offering.channel](offering)} | ${offering.description} |`,
  );
  return ['| Offering | Price | Paid for | What it is |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
