/** The models of the simulated company, in the order of ir.model. */
import type { ModelSpec } from '../orm/model.ts';
import { apiKey } from './api-key.ts';
import { attachment } from './attachment.ts';
import { company, language, user } from './company.ts';
import { lead, stage, tag } from './crm.ts';
import { notification } from './notification.ts';
import { partner, partnerCategory } from './partner.ts';
import { message } from './post-message.ts';
import { product, template } from './product.ts';
import { order, orderLine } from './sale.ts';
import { configParameter, irModel, irModelFields, view } from './technical.ts';
import { country, countryGroup, currency, currencyRate, state } from './world.ts';

export const allModels: readonly ModelSpec[] = [
  irModel,
  irModelFields,
  configParameter,
  view,
  language,
  countryGroup,
  country,
  state,
  currency,
  currencyRate,
  company,
  user,
  partner,
  partnerCategory,
  message,
  notification,
  attachment,
  template,
  product,
  order,
  orderLine,
  tag,
  stage,
  lead,
  apiKey,
];
