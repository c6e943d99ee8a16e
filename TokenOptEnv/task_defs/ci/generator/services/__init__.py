"""The CI services that generated projects run on; two of them are kept for the test split."""

from TokenOptEnv.task_defs.ci.generator.services.fleet import FleetService
from TokenOptEnv.task_defs.ci.generator.services.hosted import HostedService
from TokenOptEnv.task_defs.ci.generator.services.pipeline import LINT, Pipeline, TestJob
from TokenOptEnv.task_defs.ci.generator.services.sections import SectionsService
from TokenOptEnv.task_defs.ci.generator.services.service import Heading, Service
from TokenOptEnv.task_defs.ci.generator.services.stages import StagesService

TRAIN: tuple[Service, ...] = (FleetService(), HostedService())
HELD_OUT: tuple[Service, ...] = (SectionsService(), StagesService())

__all__ = ["HELD_OUT", "LINT", "TRAIN", "Heading", "Pipeline", "Service", "TestJob"]
