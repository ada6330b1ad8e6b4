/** The addon of Odoo that defines a model or a method. The documentation names it. */
import type { Method, Model } from '../orm/model.ts';

export const modules = [
  'base',
  'rpc',
  'web',
  'api_doc',
  'mail',
  'product',
  'sales_team',
  'crm',
  'sale',
] as const;

export function nameModule(model: string): string {
  if (model === 'crm.tag') return 'sales_team';
  const [family = ''] = model.split('.');
  return modules.find((module) => module === family) ?? 'base';
}

export function locateMethod(
  model: Model,
  name: string,
  { owner }: Method,
): { model: string; module: string } {
  if (owner === 'MailThread') return { model: 'mail.thread', module: 'mail' };
  if (owner === 'MailActivityMixin') return { model: 'mail.activity.mixin', module: 'mail' };
  if (name === 'get_view' || name === 'get_views') return { model: 'base', module: 'base' };
  if (owner === 'Base' && name !== 'onchange') return { model: 'base', module: 'web' };
  if (owner === 'BaseModel' || coreOverrides.includes(name)) return { model: 'core', module: 'core' };
  return { model: model.name, module: nameModule(model.name) };
}

// Errors name these methods after the class of the record, but the documentation names the class that declares them.
const coreOverrides: readonly string[] = ['create', 'write', 'onchange'];
