import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';

interface PageTabsProps<Name extends string> {
  /** By name, in their order. The first one is shown if the URL names none. */
  tabs: Readonly<Record<Name, { label: string; panel: ReactNode }>>;
  /** The tab that the URL names. */
  shown: Name | undefined;
  /** Undefined: the first tab. */
  onChange: (name: Name | undefined) => void;
}

/** The tabs of a page. Forms in hidden panels stay mounted: they keep their input, and ask before the page is left. */
export function PageTabs<Name extends string>({ tabs, shown, onChange }: PageTabsProps<Name>) {
  const names = Object.keys(tabs) as Name[];
  return (
    <Tabs
      value={shown ?? names[0] ?? null}
      keepMountedMode="display-none"
      onChange={(value) => onChange(names.slice(1).find((name) => name === value))}
    >
      <Tabs.List mb="md">
        {names.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {tabs[name].label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {names.map((name) => (
        <Tabs.Panel key={name} value={name}>
          {tabs[name].panel}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
