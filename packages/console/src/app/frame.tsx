/** The frame of all pages: navigation, colours, sign-out. Shows the sign-in form while there is no session. */

import {
  ActionIcon,
  Anchor,
  AppShell,
  Box,
  Burger,
  Button,
  Group,
  Modal,
  NavLink,
  Popover,
  ScrollArea,
  Stack,
  Text,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { ROOT } from '../api/root.ts';
import {
  checkSession,
  mayAll,
  mayAs,
  readHolder,
  readSession,
  signOut,
  watchSession,
} from '../api/session.ts';
import { Facts } from '../parts/facts.tsx';
import { Icon } from '../parts/icon.tsx';
import { LeaveDialog } from '../parts/leave-dialog.tsx';
import { ProblemAlert } from '../parts/problem-alert.tsx';
import { revealInvisible } from '../parts/show-json.ts';
import { hasUnsavedInput } from '../parts/unsaved-input.ts';
import { LimitedPage, RolePage } from './error-pages.tsx';
import icon from './icon.svg';
import { LoadingPage } from './loading-page.tsx';
import { findNeededRole, isAboutAll, PAGES } from './pages.ts';
import { SignInForm } from './sign-in-form.tsx';
import { NoRolePage, SignInPage, UnavailablePage } from './sign-in-page.tsx';

export function Frame() {
  const session = useSyncExternalStore(watchSession, readSession);
  useEffect(() => {
    if (readSession().state === 'unknown') void checkSession();
  }, []);
  switch (session.state) {
    case 'unknown':
      return <LoadingPage />;
    case 'closed':
      return <SignInPage />;
    case 'no_role':
      return <NoRolePage reason={session.reason} />;
    case 'unavailable':
      return <UnavailablePage reason={session.reason} />;
    default:
      return (
        <Shell>
          <Page />
          <Modal
            opened={session.state === 'ended'}
            onClose={() => undefined}
            withCloseButton={false}
            title="Your session has ended"
          >
            <Text size="sm" mb="sm">
              Sign in again to continue. The page keeps what you have typed.
            </Text>
            <SignInForm keepsPage />
          </Modal>
        </Shell>
      );
  }
}

/** The page of the address, if the role of who is signed in may use it. */
function Page() {
  const { pathname } = useLocation();
  const role = findNeededRole(pathname);
  if (isAboutAll(pathname) && !mayAll()) return <LimitedPage />;
  return mayAs(role) ? <Outlet /> : <RolePage needs={role} />;
}

function Shell({ children }: { children: ReactNode }) {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  const isNarrow = useMediaQuery('(max-width: 47.99em)', false, { getInitialValueInEffect: false });
  const [failure, setFailure] = useState<Error | null>(null);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'sm', md: 'lg' }}
    >
      <a href="#content" className="skip-link">
        Skip to the content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <img src={icon} width={26} height={26} alt="" />
            <Text fw={650} style={{ whiteSpace: 'nowrap' }}>
              erp-proxy
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Holder />
            <ColorSchemeButton />
            <SignOutButton onError={setFailure} />
          </Group>
        </Group>
      </AppShell.Header>
      {/* Hidden links must not be reached by the Tab key. */}
      <AppShell.Navbar p="xs" inert={isNarrow && !isOpen}>
        <AppShell.Section
          grow
          component={ScrollArea}
          renderRoot={(props) => <nav {...props} aria-label="Pages" />}
        >
          {PAGES.filter(({ path }) => mayAs(findNeededRole(path))).map(({ path, label, icon: name }) => (
            <NavLink
              key={path}
              label={label}
              leftSection={<Icon name={name} />}
              active={path === '/' ? pathname === '/' : pathname.startsWith(path)}
              onClick={close}
              renderRoot={(props) => <Link to={path} {...props} />}
            />
          ))}
        </AppShell.Section>
        <AppShell.Section>
          <NavLink
            display={mayAs(findNeededRole('/start')) ? undefined : 'none'}
            label="Start"
            leftSection={<Icon name="check" />}
            active={pathname === '/start'}
            onClick={close}
            renderRoot={(props) => <Link to="/start" {...props} />}
          />
          <NavLink
            label="API reference"
            leftSection={<Icon name="book" />}
            href={`${ROOT}docs`}
            target="_blank"
            rel="noreferrer"
          />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} style={{ outline: 'none' }}>
        {failure !== null && (
          <Box mb="md">
            <ProblemAlert error={failure} onDismiss={() => setFailure(null)} />
          </Box>
        )}
        {children}
      </AppShell.Main>
    </AppShell>
  );
}

/** Who is signed in, if the proxy knows a person, with the rights and the way to the own connections. */
function Holder() {
  const holder = readHolder();
  if (holder?.actor.type !== 'person') return null;
  const { actor, role, instances, other_roles: others } = holder;
  const limits = instances === null ? '' : `, instances ${instances.join(', ')}`;
  const facts = [
    ['You are', actor.id],
    ['Your role', role],
    ['Your instances', instances === null ? 'all, and the whole proxy' : instances.join(', ')],
    ...(others.length === 0
      ? []
      : [['Further rules give', `${others.join(', ')}; the first rule decides`] as const]),
  ] as const;
  return (
    <Popover position="bottom-end" width={320} trapFocus withArrow>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          px={4}
          maw={{ base: 72, sm: 300 }}
          title={actor.id}
        >
          <Text size="sm" c="var(--mantine-color-text)" truncate>
            {revealInvisible(actor.name)}
            <Text span c="dimmed" visibleFrom="sm">
              {` · ${role}${limits}`}
            </Text>
          </Text>
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="sm">
          <Facts facts={facts} />
          <Anchor size="sm" href={`${ROOT}me`}>
            Your connections to Odoo
          </Anchor>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function ColorSchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <Tooltip label={`Use ${other} colours`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Use ${other} colours`}
        onClick={() => setColorScheme(other)}
      >
        <Icon name={scheme === 'dark' ? 'sun' : 'moon'} />
      </ActionIcon>
    </Tooltip>
  );
}

/** Ends the session. Asks first if a form of the page has unsaved input, which is lost with the page. */
function SignOutButton({ onError }: { onError: (error: Error) => void }) {
  const [isAsked, { open, close }] = useDisclosure(false);
  const leave = () => {
    close();
    signOut().catch(onError);
  };
  return (
    <>
      <Tooltip label="Sign out">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Sign out"
          onClick={() => (hasUnsavedInput() ? open() : leave())}
        >
          <Icon name="sign-out" />
        </ActionIcon>
      </Tooltip>
      <LeaveDialog
        isOpen={isAsked}
        title="Sign out without saving?"
        leaveLabel="Sign out"
        onStay={close}
        onLeave={leave}
      />
    </>
  );
}
