/**
 * Lists open quotations, creates a customer, or confirms a quotation:
 *
 *     node quotations.ts list
 *     node quotations.ts customer 1001 'Azure Interior'
 *     node quotations.ts confirm 1
 *
 * ERP_PROXY_URL, ERP_PROXY_KEY and ERP_PROXY_INSTANCE name the proxy, the client key and the stored instance.
 */
import { createClient, isErpProxyError } from '@erp-proxy/client';

const client = openClient();
const orders = client.model('sale.order');

function openClient() {
  try {
    return createClient();
  } catch (error) {
    console.error(explain(error));
    return process.exit(1);
  }
}

async function listQuotations(): Promise<void> {
  const open = orders.paginate([['state', 'in', ['draft', 'sent']]], {
    fields: ['name', 'partner_id', 'amount_total'],
    pageSize: 2,
  });
  for await (const { name, partner_id, amount_total } of open) {
    console.log(`${name}  ${partner_id[1]}  ${amount_total.toFixed(2)}`);
  }
}

/** `number` is the customer's number in the shop: the same number never creates a second customer. */
async function createCustomer(number: string, name: string): Promise<void> {
  const id = await client
    .model('res.partner')
    .create({ name, ref: number }, { idempotencyKey: `shop-customer-${number}` });
  console.log(`customer ${id}`);
}

async function confirmQuotation(id: number): Promise<void> {
  await orders.call('action_confirm', [[id]]);
  console.log(`confirmed ${id}`);
}

/** The client has already repeated the calls that are safe to repeat: an error that arrives here is final. */
function explain(error: unknown): string {
  if (!isErpProxyError(error)) throw error;
  switch (error.type) {
    case 'record_missing':
      return 'There is no such quotation.';
    case 'user_error':
    case 'validation_error':
      return `Odoo refuses: ${error.message}`;
    case 'usage':
      return error.message;
    default:
      return `${error.type}: ${error.message} (request ${error.requestId})`;
  }
}

const [command, first = '', second = ''] = process.argv.slice(2);
try {
  if (command === 'list') await listQuotations();
  else if (command === 'customer') await createCustomer(first, second);
  else if (command === 'confirm') await confirmQuotation(Number(first));
  else {
    console.error('usage: quotations.ts list | customer <number> <name> | confirm <id>');
    process.exitCode = 1;
  }
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
