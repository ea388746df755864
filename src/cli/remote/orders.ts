/** order: work orders, as the MES sends them. */
import type { Answered } from '../../client/typed.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { LIMIT, limitOf, parameterOptions, parametersOf, tellMore } from './given.js';
import { type Outcome, table, usage } from './outcome.js';
import { effectiveRecipes } from './recipes.js';
import { yamlText } from '../../platform/base/yaml.js';

type Order = Answered<'/api/v1/mes/sites/{site}/work-orders/{id}', 'get'>;

async function list(context: CommandContext): Promise<Outcome> {
  const { box } = context;
  const limit = limitOf(context);
  const site = await box.site();
  const page = await box.typed.page('/api/v1/mes/sites/{site}/work-orders', { path: { site }, query: { limit } });
  tellMore(context, page, '--limit');
  const orders = page.items;
  const rows = orders.map(({ workOrderID, productDefinition, status = '', quantity, engineeringUnit, batchID, origin, createdAt }) => [
    workOrderID,
    productDefinition,
    status,
    `${quantity} ${engineeringUnit}`.trim(),
    batchID,
    origin,
    createdAt,
  ]);
  return { data: orders, text: rows.length === 0 ? `there is no work order in ${site}` : table(['order', 'product', 'state', 'quantity', 'batch', 'from', 'made'], rows) };
}

async function show({ box, args: [id = ''] }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const order: Order = await box.typed.get('/api/v1/mes/sites/{site}/work-orders/{id}', { path: { site, id } });
  return { data: order, text: yamlText(order).trimEnd() };
}

async function create(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const [workOrderID = ''] = args;
  const productDefinition = textOf(options, 'product');
  if (productDefinition === undefined) throw usage('name what is to be made with --product: an effective master recipe, as lineside recipe list shows it');
  const { equipment, ...values } = parametersOf(context);
  const description = textOf(options, 'description');
  const site = await box.site();
  const body = {
    workOrderID,
    productDefinition,
    ...values,
    ...(equipment === undefined ? {} : { requestedEquipment: equipment }),
    ...(description === undefined ? {} : { description }),
  };
  const order = await box.typed.post('/api/v1/mes/sites/{site}/work-orders', { path: { site }, query: { dispatch: 'immediate' }, body });
  return { data: order, text: `work order ${order.workOrderID} is batch ${order.batchID} (${order.batchName}); it waits: lineside batch start ${order.workOrderID}` };
}

async function remove({ box, args: [id = ''] }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  await box.typed.remove('/api/v1/mes/sites/{site}/work-orders/{id}', { path: { site, id } });
  return { data: { workOrderID: id }, text: `withdrew work order ${id}` };
}

async function orderIDs({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.get('/api/v1/mes/sites/{site}/work-orders', { path: { site } })).map(({ workOrderID }) => workOrderID);
}

export const ORDER_COMMANDS: readonly CommandRow[] = [
  { typed: 'order list', about: 'work orders, newest first; a batch that was made at the plant stands among them', options: [LIMIT], run: list },
  { typed: 'order show <order>', about: 'one work order', names: { order: orderIDs }, run: show },
  {
    typed: 'order create <order>',
    about: 'submit a work order; its batch waits until it is started. The same order once more changes nothing',
    options: [['--product <recipe>', 'effective master recipe'], ...parameterOptions(), ['--description <text>', 'what people should know of it']],
    examples: ['lineside order create WO-7 --product resin-a --quantity 20'],
    names: { product: effectiveRecipes },
    run: create,
  },
  { typed: 'order delete <order>', about: 'withdraw a work order whose batch was never started', names: { order: orderIDs }, run: remove },
];
