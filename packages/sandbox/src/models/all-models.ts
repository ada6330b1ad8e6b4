/** The models of the simulated company, in the order of ir.model. */
import type { ModelSpec } from '../orm/model.ts';
import { activity, activityType } from './activity.ts';
import { apiKey } from './api-key.ts';
import { attachment } from './attachment.ts';
import { message } from './chatter.ts';
import { company, language, user } from './company.ts';
import { composer, template as mailTemplate } from './composer.ts';
import { lead, stage, tag, team } from './crm.ts';
import { notification } from './notification.ts';
import { partner, partnerCategory } from './partner.ts';
import { category, product, template } from './product.ts';
import { report } from './report.ts';
import { cancelWizard, order, orderLine } from './sale.ts';
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
  mailTemplate,
  composer,
  activityType,
  activity,
  attachment,
  category,
  template,
  product,
  order,
  orderLine,
  cancelWizard,
  tag,
  stage,
  team,
  lead,
  apiKey,
  report,
];
