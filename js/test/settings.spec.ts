import { DisposableDelegate } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { describe, expect, it } from 'vitest';

import schema from '../schema/plugin.json';
import { DEFAULTS, PanelSettings } from '../src/settings';

/** Settings whose values a test changes. */
class FakeSettings {
  readonly changed = new Signal<this, void>(this);
  composite: Record<string, unknown> = {};

  set(values: Record<string, unknown>): void {
    this.composite = values;
    this.changed.emit();
  }

  asSettings(): ISettingRegistry.ISettings {
    return this as unknown as ISettingRegistry.ISettings;
  }
}

describe('PanelSettings', () => {
  it('has the defaults of the schema before anything was read', () => {
    const defaults = Object.entries(schema.properties).map(([name, { default: value }]) => [
      name,
      value
    ]);
    expect(new PanelSettings().choices).toEqual(Object.fromEntries(defaults));
    expect(DEFAULTS).toEqual(Object.fromEntries(defaults));
  });

  it('takes each change and keeps the defaults of what is not set', () => {
    const settings = new PanelSettings();
    const source = new FakeSettings();
    settings.follow(source.asSettings());
    source.set({ sendWith: 'Shift Enter' });
    expect(settings.choices).toEqual({ ...DEFAULTS, sendWith: 'Shift Enter' });
  });

  it('turns parts off and on again with the one switch', () => {
    const settings = new PanelSettings();
    const source = new FakeSettings();
    settings.follow(source.asSettings());
    const log: string[] = [];
    const parts = settings.whileEnabled(() => {
      log.push('on');
      return new DisposableDelegate(() => log.push('off'));
    });
    source.set({ enabled: false });
    source.set({ enabled: false });
    source.set({ enabled: true });
    parts.dispose();
    source.set({ enabled: false });
    expect(log).toEqual(['on', 'off', 'on', 'off']);
  });

  it('hears nothing of its source after its end', () => {
    const settings = new PanelSettings();
    const source = new FakeSettings();
    settings.follow(source.asSettings());
    settings.dispose();
    source.set({ cellButtons: false });
    expect(settings.choices.cellButtons).toBe(true);
  });
});
