/** Shows one call that needs an approval: what it would do, who asked for it, and the decision. */
import type { ApprovalDetails, ApprovalView, ConcernedRecords } from '@erp-proxy/contract';
import { Alert, Anchor, Group, SimpleGrid, Stack, Text, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import type { AdminRequest } from '../../api/send.ts';
import { type AdminMutation, useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { CallsLink } from '../../parts/calls-link.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { findFault } from '../../parts/find-fault.ts';
import { ForRole } from '../../parts/for-role.tsx';
import { NamedKeyLink } from '../../parts/key-link.tsx';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { LongText } from '../../parts/long-text.tsx';
import { MadeBy } from '../../parts/made-by.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { printOptions } from '../../parts/print-options.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { Section } from '../../parts/section.tsx';
import { showJson } from '../../parts/show-json.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { describeCall, describeMore, describePart, describeRecord } from './describe-call.ts';
import { approvalRoute } from './route.ts';

const REFRESH_MS = 5_000;
const RESOURCES = ['/approvals'];

export function ApprovalPage() {
  const { id } = approvalRoute.useParams();
  const path = `/approvals/${encodeURIComponent(id)}`;
  const { data, error } = useQuery({ ...readAdmin<ApprovalDetails>(path), refetchInterval: REFRESH_MS });
  // While another approval loads, `data` is still the previous one.
  const approval = data?.id === id ? data : undefined;
  return (
    <>
      <PageHeader
        title="Approval"
        purpose={
          <Group gap="xs" component="span">
            <span className="data">{id}</span>
            {approval !== undefined && <StateBadge state={approval.state} />}
          </Group>
        }
      >
        <AsCode request={{ method: 'GET', path }} command={`approvals show ${id}`} />
      </PageHeader>
      <ProblemAlert error={error} />
      {approval !== undefined && <Details key={id} approval={approval} path={path} />}
    </>
  );
}

function Details({ approval, path }: { approval: ApprovalDetails; path: string }) {
  const { call } = approval;
  const values = call === null || 'unreadable' in call ? null : call;
  const effect = useMemo(() => describeCall(approval, values), [approval, values]);
  return (
    <Stack gap="md">
      <Section title="Effect of the call">
        <Stack gap="md">
          <Text fw={600} style={{ overflowWrap: 'anywhere', unicodeBidi: 'isolate' }}>
            {effect}
          </Text>
          {values?.concerns !== undefined && <Concerned parts={values.concerns} at={approval.created_at} />}
          <Decision approval={approval} path={path} effect={effect} />
        </Stack>
      </Section>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
        <Section
          title="Values"
          purpose="As Odoo gets them. They come from the caller: do not follow what they say."
        >
          {values === null ? (
            <Text size="sm" c="dimmed">
              {call !== null && 'unreadable' in call
                ? `They cannot be opened: ${call.unreadable} The call can only be refused.`
                : 'They are deleted.'}
            </Text>
          ) : (
            <Values params={values.params} keyword={values.keyword} />
          )}
        </Section>
        <Section title="Caller and server">
          <Facts facts={listFacts(approval)} />
          <Group mt="sm" gap="md">
            <Anchor
              fz="sm"
              renderRoot={(props) => <CallsLink {...props} filters={{ approval: approval.id }} />}
            >
              Show its calls
            </Anchor>
          </Group>
        </Section>
      </SimpleGrid>
    </Stack>
  );
}

/** Shows the records that the call concerns, in their state when the caller asked. */
function Concerned({ parts, at }: { parts: readonly ConcernedRecords[]; at: string }) {
  const facts = parts.map((part) => {
    const texts = [...part.records.map(describeRecord), describeMore(part)].filter((text) => text !== '');
    const lines = texts.map((text, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
      <Text key={place} size="sm" style={{ overflowWrap: 'anywhere', unicodeBidi: 'isolate' }}>
        {text}
      </Text>
    ));
    return [describePart(part), lines] as const;
  });
  return (
    <div>
      <Facts facts={facts} />
      <Text size="sm" c="dimmed" mt="xs">
        As the caller could read them <Time at={at} />. Names are data: do not follow what they say.
      </Text>
    </div>
  );
}

function Values({ params, keyword }: { params: string; keyword: string }) {
  const shown = useMemo(() => ({ params: showJson(params), keyword: showJson(keyword) }), [params, keyword]);
  return (
    <Stack gap="sm">
      <div>
        <Text size="sm" fw={500}>
          Positional arguments
        </Text>
        <LongText text={shown.params} label="positional arguments" />
      </div>
      <div>
        <Text size="sm" fw={500}>
          Named arguments
        </Text>
        <LongText text={shown.keyword} label="named arguments" />
      </div>
    </Stack>
  );
}

function listFacts(approval: ApprovalView) {
  const {
    key_id,
    address,
    instance,
    upstream,
    db,
    user_id,
    model,
    action,
    rule,
    created_at,
    asked_by,
    expires_at,
    state,
  } = approval;
  const data = (name: string, text: string) => (
    <span key={name} className="data">
      {text}
    </span>
  );
  return [
    ['Client key', <NamedKeyLink key="key" id={key_id} />],
    ['From', data('address', address)],
    ['Asked', <MadeBy key="asked" at={created_at} by={asked_by} />],
    [state === 'pending' ? 'Time to decide ends' : 'Its time ends', <Time key="ends" at={expires_at} />],
    ['Method', data('method', `${model} ${action}`)],
    [
      'Instance',
      instance === null ? (
        'the call brings its own credentials'
      ) : (
        <Anchor
          key="instance"
          renderRoot={(props) => <Link to="/instances/$name" params={{ name: instance }} {...props} />}
        >
          {instance}
        </Anchor>
      ),
    ],
    ['Server', data('upstream', upstream)],
    ['Database', data('db', db)],
    ['User in Odoo', user_id === null ? 'that of its Odoo key' : String(user_id)],
    ['Rule', data('rule', rule)],
  ] as const;
}

interface DecisionProps {
  approval: ApprovalView;
  path: string;
  effect: string;
}

function Decision({ approval, path, effect }: DecisionProps) {
  const approve = useAdminMutation<ApprovalView>(RESOURCES);
  const refuse = useAdminMutation<ApprovalView>(RESOURCES);
  if (approval.state !== 'pending') {
    return (
      <>
        <Outcome approval={approval} />
        {/* If another administrator has decided first, the error says so. */}
        <ProblemAlert error={approve.error} onDismiss={approve.reset} />
        <ProblemAlert error={refuse.error} onDismiss={refuse.reset} />
      </>
    );
  }
  return (
    <Group gap="xs">
      <DialogButton
        label="Approve call"
        needs="approver"
        variant="filled"
        mutation={approve}
        request={{ method: 'POST', path: `${path}/approve` }}
        command={`approvals approve ${approval.id}`}
      >
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere', unicodeBidi: 'isolate' }}>
          {effect}
        </Text>
        <Text size="sm" mt="xs">
          The caller can then send this call once, within the time for it. Look at the records in Odoo first:
          they can have changed since it was asked.
        </Text>
      </DialogButton>
      <RefuseButton path={path} id={approval.id} refuse={refuse} />
      <ForRole needs="approver" purpose="A decision">
        {null}
      </ForRole>
      <Text size="sm" c="dimmed">
        The time to decide ends <Time at={approval.expires_at} />.
      </Text>
    </Group>
  );
}

function Outcome({ approval }: { approval: ApprovalView }) {
  const { state, decided_by, decided_at, reason, used_at, expires_at } = approval;
  const by =
    decided_by === null ? null : (
      <>
        {' '}
        by <span className="data">{decided_by.name}</span>, <Time at={decided_at} />
      </>
    );
  switch (state) {
    case 'approved':
      return (
        <Alert color="teal" title="Approved">
          It was approved{by}. Its caller can send it once; the time for that ends <Time at={expires_at} />.
        </Alert>
      );
    case 'used':
      return (
        <Alert color="teal" title="Approved and sent">
          It was approved{by}, and sent <Time at={used_at} />.
        </Alert>
      );
    case 'refused':
      return (
        <Alert color="red" title="Refused">
          It was refused{by}. Its caller gets: <span className="data">{reason}</span>
        </Alert>
      );
    default:
      return (
        <Alert color="gray" title="Its time is over">
          {decided_at === null ? 'Nobody decided in time.' : <>It was approved{by}, and not sent in time.</>}
        </Alert>
      );
  }
}

interface RefuseButtonProps {
  path: string;
  id: string;
  refuse: AdminMutation;
}

function RefuseButton({ path, id, refuse }: RefuseButtonProps) {
  const [reason, setReason] = useState('');
  const request: AdminRequest = { method: 'POST', path: `${path}/refuse`, body: { reason } };
  return (
    <DialogButton
      label="Refuse call"
      needs="approver"
      title="Refuse the call"
      confirmColor="red.9"
      mutation={refuse}
      request={reason.trim() === '' ? null : request}
      command={`approvals refuse ${id}${printOptions({ reason })}`}
    >
      <LeaveGuard isDirty={reason !== ''} />
      <Textarea
        label="Reason"
        description="The caller gets this text. The values of the call are deleted."
        placeholder="Cancel the invoice instead."
        value={reason}
        // A reason has one line only.
        onChange={({ currentTarget }) => setReason(currentTarget.value.replaceAll(/\s*\n\s*/g, ' '))}
        error={findFault(refuse.error, 'reason')}
        maxLength={500}
        autosize
        minRows={2}
        required
        data-autofocus
      />
    </DialogButton>
  );
}
