/**
 * Renders the page of one model in /doc-bearer: its fields, and its callable methods with their arguments
 * (docs/odoo-facts.md#doc-page).
 */
import type { Json, JsonObject } from '../json/value.ts';
import { describeField } from '../orm/describe-field.ts';
import type { Environment, Method, Model } from '../orm/model.ts';
import { type Parameter, parseSignature } from '../orm/parse-signature.ts';
import { types } from './declared-types.ts';
import { listCallable } from './list-callable.ts';
import { locateMethod, nameModule } from './locate-method.ts';

export function describeModel(environment: Environment, model: Model): JsonObject {
  const fields = [...model.fields.values()].map((field) => {
    const isMagic = field.name === 'id' || field.name === 'display_name';
    const module = isMagic ? null : nameModule(model.name);
    return [field.name, { ...describeField(environment, model, field, []), module }] as const;
  });
  const methods = listCallable(environment, model).map(
    (name) => [name, describeMethod(model, name, model.methods.get(name)!)] as const,
  );
  return {
    model: model.name,
    name: model.description,
    doc: null,
    fields: Object.fromEntries(fields),
    methods: Object.fromEntries(methods),
  };
}

function describeMethod(model: Model, name: string, method: Method): JsonObject {
  const parameters = parseSignature(method.parameters);
  const declared = types[name] ?? {};
  const returned = declared['return'];
  // Odoo prints neither the stars nor the types of these parameters.
  const shown = parameters.map(({ name, literal }) => (literal === undefined ? name : `${name}=${literal}`));
  const api = [...(method.kind === 'record' ? [] : ['model']), ...(method.readonly ? ['readonly'] : [])];
  return {
    signature: `(${shown.join(', ')})${returned ? ` -> ${returned}` : ''}`,
    parameters: Object.fromEntries(
      parameters.map((parameter) => [parameter.name, describeParameter(parameter, declared[parameter.name])]),
    ),
    ...(returned ? { return: { annotation: returned } } : {}),
    ...(api.length > 0 ? { api } : {}),
    ...locateMethod(model, name, method),
  };
}

function describeParameter(parameter: Parameter, annotation: string | undefined): JsonObject {
  const shown: Record<string, Json> = {};
  if (parameter.kind !== 'POSITIONAL_OR_KEYWORD') shown['kind'] = parameter.kind;
  if (parameter.default !== undefined) shown['default'] = parameter.default;
  if (annotation !== undefined) shown['annotation'] = annotation;
  return shown;
}
